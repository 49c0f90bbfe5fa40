// devprobe PATH...: what this process may do with a device: opens, reads, writes and maps it and
// says how each went, a line a step: "open ok", "read EACCES", "map ok". Exit status 0 when all of
// it went well for every path, 1 otherwise, 2 for a wrong command line.
#define _GNU_SOURCE  // strerrorname_np
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { length = 4096 };

static int failed;

static void say(const char* step, int good) {
    if (good) {
        printf("%s ok\n", step);
    } else {
        const char* name = strerrorname_np(errno);
        printf("%s %s\n", step, name ? name : "unknown");
        failed = 1;
    }
}

// A device that opens for reading only is probed on: SELinux decides on each step by itself.
static void probe(const char* path) {
    static char buffer[length];
    int fd = open(path, O_RDWR | O_CLOEXEC);
    say("open", fd >= 0);
    if (fd < 0) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        say("open-read-only", fd >= 0);
        if (fd < 0)
            return;
    }
    say("read", read(fd, buffer, sizeof buffer) >= 0);
    say("write", write(fd, buffer, sizeof buffer) >= 0);
    void* mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    say("map", mapped != MAP_FAILED);
    if (mapped != MAP_FAILED)
        munmap(mapped, length);
    close(fd);
}

int main(int argc, char** argv) {
    if (argc < 2) {
        fputs("usage: devprobe PATH...\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; ++i)
        probe(argv[i]);
    return failed;
}
