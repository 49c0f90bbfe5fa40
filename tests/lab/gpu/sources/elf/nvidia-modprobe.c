// SPDX-License-Identifier: Apache-2.0
// Stand-in for the setuid program nvidia-modprobe, for edgegpu's lab. It runs as root for anybody:
// only fixed paths and device numbers that the kernel names, and an empty environment for modprobe.
//   nvidia-modprobe         loads nvidia.ko
//   nvidia-modprobe -c N    and makes the node with minor N: /dev/nvidiaN, 255 is /dev/nvidiactl
//   nvidia-modprobe -u      loads nvidia-uvm.ko; with -c 0 makes /dev/nvidia-uvm and
//   /dev/nvidia-uvm-tools nvidia-modprobe -m      for nvidia-modeset.ko: /dev/nvidia-modeset
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int load(const char* module) {
    char* const environment[] = {NULL};
    char* const arguments[] = {"modprobe", (char*)module, NULL};
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        // modprobe looks at the real user.
        if (setgid(0) == 0 && setuid(0) == 0)
            execve("/sbin/modprobe", arguments, environment);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static int major_of(const char* wanted) {
    char line[256], name[128];
    int number, found = -1;
    FILE* devices = fopen("/proc/devices", "r");

    while (devices && found < 0 && fgets(line, sizeof line, devices))
        if (sscanf(line, "%d %127s", &number, name) == 2 && strcmp(name, wanted) == 0)
            found = number;
    if (devices)
        fclose(devices);
    return found;
}

static int make_node(const char* path, int major, int minor) {
    struct stat about;

    if (major < 0)
        return 1;
    if (lstat(path, &about) == 0)
        return !(S_ISCHR(about.st_mode) && about.st_rdev == makedev(major, minor));
    umask(0);
    return mknod(path, S_IFCHR | 0666, makedev(major, minor)) != 0;
}

int main(int argc, char** argv) {
    int minors[256], count = 0, uvm = 0, modeset = 0, failed = 0, option;
    char path[64];

    while ((option = getopt(argc, argv, "c:um")) != -1) {
        if (option == 'c' && count < 256) {
            char* end;
            long minor = strtol(optarg, &end, 10);
            if (*optarg == '\0' || *end != '\0' || minor < 0 || minor > 255)
                return 1;
            minors[count++] = (int)minor;
        } else if (option == 'u') {
            uvm = 1;
        } else if (option == 'm') {
            modeset = 1;
        } else {
            return 1;
        }
    }
    if (load(uvm ? "nvidia-uvm" : modeset ? "nvidia-modeset" : "nvidia"))
        return 1;
    if (modeset)
        return make_node("/dev/nvidia-modeset", major_of("nvidia-frontend"), 254);
    if (uvm) {
        int major = major_of("nvidia-uvm");
        return count > 0 && (make_node("/dev/nvidia-uvm", major, 0) |
                             make_node("/dev/nvidia-uvm-tools", major, 1));
    }
    for (int i = 0; i < count; ++i) {
        if (minors[i] == 255)
            snprintf(path, sizeof path, "/dev/nvidiactl");
        else
            snprintf(path, sizeof path, "/dev/nvidia%d", minors[i]);
        failed |= make_node(path, major_of("nvidia-frontend"), minors[i]);
    }
    return failed;
}
