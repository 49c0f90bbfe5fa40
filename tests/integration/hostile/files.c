// Attacks on files of the builder: by handle, by path, by descriptor, by link.
#define _GNU_SOURCE
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/// Places that may be on a file system of the builder.
static const char* const mounts[] = {"/",
                                     "/run/edgegpu-record",
                                     "/run/edgegpu-record/kept",
                                     "/run/edgegpu/scriptlet",
                                     "/run/edgegpu/uname",
                                     "/run/ostree-booted",
                                     "/proc/version",
                                     "/proc/cmdline",
                                     "/proc/sys/kernel/osrelease",
                                     "/usr/bin/uname",
                                     "/usr/sbin/depmod",
                                     "/run/edgegpu/real/depmod",
                                     "/dev/null",
                                     "/dev/pts",
                                     "/dev/shm",
                                     "/tmp",
                                     "/run"};

/// The handles that file systems give their root directory, and the canary's own.
static size_t make_handles(struct file_handle** handles) {
    size_t count = 0;
    const unsigned roots[][4] = {
        {1, 2, 0, 8}, {1, 128, 0, 8}, {0x4d, 256, 0, 8}};  // type, inode, generation, bytes
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); ++i) {
        struct file_handle* handle = calloc(1, sizeof(*handle) + 128);
        handle->handle_type = (int)roots[i][0];
        handle->handle_bytes = roots[i][3];
        memcpy(handle->f_handle, &roots[i][1], 8);
        handles[count++] = handle;
    }
    const char* own = target("handle");  // TYPE HEX
    char* hex = NULL;
    const long type = strtol(own, &hex, 10);
    if (hex != NULL && *hex == ' ') {
        struct file_handle* handle = calloc(1, sizeof(*handle) + 128);
        handle->handle_type = (int)type;
        for (++hex; hex[0] != '\0' && hex[1] != '\0' && handle->handle_bytes < 128; hex += 2) {
            unsigned byte = 0;
            sscanf(hex, "%2x", &byte);
            handle->f_handle[handle->handle_bytes++] = (unsigned char)byte;
        }
        handles[count++] = handle;
    }
    return count;
}

void attack_handles(void) {
    struct file_handle* handles[8];
    const size_t count = make_handles(handles);
    char canary[1024];
    snprintf(canary, sizeof(canary), "%s", target("world") + 1);
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); ++i) {
        const int mount = open(mounts[i], O_RDONLY | O_NONBLOCK);
        for (size_t k = 0; mount >= 0 && k < count; ++k) {
            const int fd = open_by_handle_at(mount, handles[k], O_RDONLY);
            judge_filtered(mounts[i], fd);
            if (fd >= 0) {
                try_canary(fd, canary, "below the opened handle");
                close(fd);
            }
        }
    }
}

static void try_process(int pid) {
    const char* const places[] = {"root", "cwd", "fd", "task/1/root", "map_files"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        char path[2200];
        snprintf(path, sizeof(path), "/proc/%d/%s%s", pid, places[i], target("world"));
        try_canary(AT_FDCWD, path, path);
    }
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    const int fd = open(path, O_RDONLY);
    char text[65536];
    const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));
    const bool found =
        got > 0 && memmem(text, (size_t)got, CANARY_BEGINS, strlen(CANARY_BEGINS)) != NULL;
    found ? escaped(path, "the builder's environment")
          : blocked(path, got < 0 ? strerror(errno) : "nothing in it");
    close(fd);
}

/// Follows what every descriptor of every process leads to.
static void try_descriptors(int pid) {
    char path[2200];
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR* descriptors = opendir(path);
    const struct dirent* item = NULL;
    while (descriptors != NULL && (item = readdir(descriptors)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%s%s", pid, item->d_name, target("world"));
        try_canary(AT_FDCWD, path, path);
        snprintf(path, sizeof(path), "/proc/%d/fd/%s/../../../../../../..%s", pid, item->d_name,
                 target("world"));
        try_canary(AT_FDCWD, path, path);
    }
    if (descriptors != NULL) {
        closedir(descriptors);
    }
}

void attack_paths(void) {
    char path[2200];
    const char* const keys[] = {"world", "key", "open"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
        const char* const before[] = {"",
                                      "/proc/self/root",
                                      "/proc/1/root",
                                      "/proc/thread-self/root",
                                      "/proc/self/cwd",
                                      "/../../../../../..",
                                      "/run/edgegpu-record/../../..",
                                      "/dev/fd/0/../../.."};
        for (size_t k = 0; k < sizeof(before) / sizeof(before[0]); ++k) {
            snprintf(path, sizeof(path), "%s%s", before[k], target(keys[i]));
            try_canary(AT_FDCWD, path, path);
        }
    }
    try_process(1);
    try_process(getppid());
    try_process(getpid());
    each_stranger(try_process);
    each_stranger(try_descriptors);
    try_descriptors(getpid());
    try_descriptors(getppid());
}

static int canaries_seen;

static int look(const char* path, const struct stat* status, int type, struct FTW* place) {
    (void)place;
    if (strncmp(path, "/proc", 5) == 0 && (path[5] == '/' || path[5] == '\0')) {
        return FTW_SKIP_SUBTREE;
    }
    if (type == FTW_F && S_ISREG(status->st_mode) && status->st_size > 0) {
        const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
        if (fd >= 0 && is_canary(fd)) {
            escaped("search", path);
            ++canaries_seen;
        }
    }
    return FTW_CONTINUE;
}

void attack_search(void) {
    const int walked = nftw("/", look, 64, FTW_PHYS | FTW_ACTIONRETVAL);
    if (canaries_seen == 0) {
        blocked("search",
                walked == 0 ? "no file of the whole image is the builder's" : strerror(errno));
    }
}

/// Standard streams are the builder's pipes; anything else that is open was left open.
void attack_descriptors(void) {
    for (int fd = 3; fd < 4096; ++fd) {
        char path[64];
        char place[512] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (fcntl(fd, F_GETFD) >= 0 && readlink(path, place, sizeof(place) - 1) >= 0 &&
            strcmp(place, "/run/edgegpu/scriptlet") != 0) {
            escaped("an open descriptor", place);
        }
    }
    for (int fd = 0; fd < 3; ++fd) {
        struct stat status;
        if (fstat(fd, &status) == 0 &&
            (S_ISDIR(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISBLK(status.st_mode))) {
            escaped("a standard stream", "a directory, socket or disk");
        }
    }
    blocked("descriptors", "looked at all");
}

/// Hard links to files that are the builder's, into the image, to be collected or changed there.
void attack_links(void) {
    const char* const files[] = {
        "/run/edgegpu/scriptlet", "/run/ostree-booted",        "/run/edgegpu/uname",
        "/usr/bin/uname",         "/run/edgegpu/real/depmod",  "/usr/sbin/depmod",
        "/proc/version",          "/run/edgegpu/parent/passwd"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        const char* const places[] = {"/usr/share/hostile/hard", "/run/edgegpu-record/kept/hard",
                                      "/tmp/hard"};
        for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); ++k) {
            struct stat before;
            const bool mounted = lstat(files[i], &before) == 0;
            const int result = linkat(AT_FDCWD, files[i], AT_FDCWD, places[k], 0);
            mounted ? judge(files[i], result) : blocked(files[i], "not there");
            unlink(places[k]);
        }
        // A read-only bind must not be writable by any way.
        judge(files[i], open(files[i], O_WRONLY | O_APPEND));
        judge(files[i], chmod(files[i], 04777));
        judge(files[i], mount(NULL, files[i], NULL, MS_REMOUNT | MS_BIND, NULL));
    }
}

void attack_devices(void) {
    const struct {
        const char* name;
        mode_t type;
        unsigned major, minor;
    } devices[] = {
        {"sda", S_IFBLK, 8, 0},      {"vda", S_IFBLK, 254, 0},   {"vdb", S_IFBLK, 253, 0},
        {"loop0", S_IFBLK, 7, 0},    {"nvme", S_IFBLK, 259, 0},  {"mem", S_IFCHR, 1, 1},
        {"kmsg", S_IFCHR, 1, 11},    {"fuse", S_IFCHR, 10, 229}, {"kvm", S_IFCHR, 10, 232},
        {"loopc", S_IFCHR, 10, 237}, {"console", S_IFCHR, 5, 1}, {"null", S_IFCHR, 1, 3}};
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); ++i) {
        const char* const folders[] = {"/usr/share/hostile", "/tmp", "/dev",
                                       "/run/edgegpu-record/kept"};
        for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); ++k) {
            char path[256];
            snprintf(path, sizeof(path), "%s/%s", folders[k], devices[i].name);
            if (mknod(path, devices[i].type | 0666, makedev(devices[i].major, devices[i].minor)) !=
                0) {
                blocked(path, strerror(errno));
                continue;
            }
            judge(path, open(path, O_RDONLY | O_NONBLOCK));
            unlink(path);
        }
    }
    const char* const known[] = {"null", "zero", "full", "random", "urandom", "tty",    "console",
                                 "ptmx", "pts",  "shm",  "fd",     "stdin",   "stdout", "stderr",
                                 "core", ".",    "..",   "log",    "mqueue"};
    DIR* folder = opendir("/dev");
    const struct dirent* item = NULL;
    while (folder != NULL && (item = readdir(folder)) != NULL) {
        bool expected = false;
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
            expected = expected || strcmp(item->d_name, known[i]) == 0;
        }
        if (!expected) {
            escaped("/dev has a device of the builder's", item->d_name);
        }
    }
}

/// Attributes of overlayfs, of the kernel's and of policies, set by hand.
void attack_attributes(void) {
    const char* const names[] = {"trusted.overlay.opaque", "trusted.overlay.redirect",
                                 "trusted.overlay.origin", "trusted.overlay.metacopy",
                                 "trusted.hostile"};
    mkdir("/usr/share/hostile/attributes", 0755);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        judge(names[i], setxattr("/usr/share/hostile/attributes", names[i], "y", 1, 0));
    }
    const int made = open("/usr/share/hostile/attributes/file", O_CREAT | O_WRONLY, 0755);
    // cap_sys_admin+ep, version 3 with root id 0: of the initial namespace it would be worth much.
    const unsigned char capability[] = {1, 0, 0, 3, 0, 0, 32, 0, 0, 0, 0, 0,
                                        0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0};
    const int set = fsetxattr(made, "security.capability", capability, sizeof(capability), 0);
    unsigned char back[64];
    const ssize_t size = fgetxattr(made, "security.capability", back, sizeof(back));
    blocked("security.capability", set == 0 && size > 0 ? "is the image's own" : strerror(errno));
    setxattr("/usr/share/hostile/attributes/file", "security.selinux", "system_u:object_r:x_t:s0",
             24, 0);
    setxattr("/usr/share/hostile/attributes/file", "user.hostile", "x", 1, 0);
    setxattr("/usr/share/hostile/attributes", "user.overlay.opaque", "y", 1, 0);
    setxattr("/usr/share/hostile/attributes", "user.overlay.redirect", "/etc", 4, 0);
    close(made);
}

/// The classic way out of a chroot.
void attack_chroot(void) {
    const int out = open("/", O_RDONLY | O_DIRECTORY);
    mkdir("/tmp/inner", 0755);
    if (chroot("/tmp/inner") != 0) {
        blocked("chroot", strerror(errno));
    }
    if (out < 0 || fchdir(out) != 0) {
        blocked("fchdir", strerror(errno));
    }
    for (int i = 0; i < 64; ++i) {
        if (chdir("..") != 0) {
            break;
        }
    }
    if (chroot(".") != 0) {
        blocked("chroot .", strerror(errno));
    }
    try_canary(AT_FDCWD, target("world"), "after leaving a chroot");
    DIR* here = opendir("/");
    if (here == NULL) {
        blocked("chroot", "no directory here");
        return;
    }
    bool has_target = false;
    const struct dirent* item = NULL;
    while ((item = readdir(here)) != NULL) {
        has_target = has_target || strcmp(item->d_name, "usr") == 0;
    }
    blocked("chroot", has_target ? "the image's root" : "somewhere else");
    closedir(here);
}
