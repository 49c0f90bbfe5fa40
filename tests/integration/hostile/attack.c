// attack NAME [ARGUMENT…]: one attack of a hostile package on the machine that builds an image.
#define _GNU_SOURCE
#include "attack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void escaped(const char* what, const char* detail) {
    printf("ESCAPED: %s: %s\n", what, detail);
    fflush(stdout);
}

void blocked(const char* what, const char* detail) {
    printf("blocked: %s: %s\n", what, detail);
    fflush(stdout);
}

void judge(const char* what, long result) {
    result >= 0 ? escaped(what, "it succeeded") : blocked(what, strerror(errno));
}

void judge_filtered(const char* what, long result) {
    const bool refused = result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
    refused ? blocked(what, strerror(errno))
            : escaped(what, result >= 0 ? "it succeeded" : strerror(errno));
}

const char* target(const char* key) {
    static char text[1024];
    FILE* file = fopen("/usr/share/hostile/target", "r");
    char line[1200];
    text[0] = '\0';
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const size_t length = strlen(key);
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, sizeof(text), "%s", line + length + 1);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

bool is_canary(int fd) {
    char text[sizeof(CANARY_BEGINS)] = "";
    const ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    return got == (ssize_t)sizeof(text) - 1 && memcmp(text, CANARY_BEGINS, sizeof(text) - 1) == 0;
}

void try_canary(int directory, const char* path, const char* what) {
    const int fd = openat(directory, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        blocked(what, strerror(errno));
    } else if (is_canary(fd)) {
        escaped(what, "a canary was read");
    } else {
        blocked(what, "another file");
    }
}

void each_stranger(void (*use)(int pid)) {
    DIR* processes = opendir("/proc");
    const struct dirent* item = NULL;
    while (processes != NULL && (item = readdir(processes)) != NULL) {
        const int pid = isdigit((unsigned char)item->d_name[0]) ? atoi(item->d_name) : 0;
        if (pid != 0 && pid != getpid() && pid != getppid()) {
            use(pid);
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
}

/// For the test itself, on the builder: the handle of a file, "TYPE HEX".
static int print_handle(const char* path) {
    struct file_handle* handle = calloc(1, sizeof(*handle) + 128);
    int mount = 0;
    handle->handle_bytes = 128;
    if (name_to_handle_at(AT_FDCWD, path, handle, &mount, 0) != 0) {
        puts("");
        return 0;
    }
    printf("%d ", handle->handle_type);
    for (unsigned i = 0; i < handle->handle_bytes; ++i) {
        printf("%02x", handle->f_handle[i]);
    }
    puts("");
    return 0;
}

static const struct {
    const char* name;
    void (*run)(void);
} attacks[] = {
    {"handles", attack_handles},
    {"paths", attack_paths},
    {"search", attack_search},
    {"processes", attack_processes},
    {"descriptors", attack_descriptors},
    {"filtered", attack_filtered},
    {"namespaces", attack_namespaces},
    {"sockets", attack_sockets},
    {"control", attack_control},
    {"devices", attack_devices},
    {"setid", attack_setid},
    {"attributes", attack_attributes},
    {"links", attack_links},
    {"chroot", attack_chroot},
    {"socket", attack_socket},
    {"memory", attack_memory},
    {"fork", attack_fork},
};

int main(int argc, char** argv) {
    if (argc > 2 && strcmp(argv[1], "handle") == 0) {
        return print_handle(argv[2]);
    }
    if (argc > 1 && strcmp(argv[1], "many") == 0) {
        attack_many(argc > 2);
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "opaque") == 0) {
        attack_opaque(argv[2]);
        return 0;
    }
    if (argc > 3 && strcmp(argv[1], "swap") == 0) {
        attack_swap(argv[2], argv[3]);
    }
    for (size_t i = 0; argc > 1 && i < sizeof(attacks) / sizeof(attacks[0]); ++i) {
        if (strcmp(argv[1], attacks[i].name) == 0) {
            attacks[i].run();
            puts("end");
            return 0;
        }
    }
    fprintf(stderr, "attack: no such attack\n");
    return 2;
}
