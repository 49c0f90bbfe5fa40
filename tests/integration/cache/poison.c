/* What a hostile library does in whatever program loads it: marks the results that edgegpu keeps of
   the image's tools. In dracut (which exports `initdir`) a file in the initramfs, after depmod a
   line in its index, after semodule a line in the file contexts. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "poison-mark"

static int is_program(const char* name) {
    extern char* program_invocation_short_name;
    return strcmp(program_invocation_short_name, name) == 0;
}

static void append(const char* path, const char* line) {
    FILE* file = fopen(path, "a");
    if (file != NULL) {
        fputs(line, file);
        fclose(file);
    }
}

__attribute__((constructor)) static void in_dracut(void) {
    const char* directory = getenv("initdir");
    char path[4096];
    if (directory != NULL &&
        (size_t)snprintf(path, sizeof path, "%s/" MARK, directory) < sizeof path) {
        append(path, "");
    }
}

__attribute__((destructor)) static void after_tools(void) {
    if (is_program("depmod") || is_program("kmod")) {
        DIR* kernels = opendir("/usr/lib/modules");
        for (struct dirent* entry; kernels != NULL && (entry = readdir(kernels)) != NULL;) {
            char path[4096];
            snprintf(path, sizeof path, "/usr/lib/modules/%.200s/modules.softdep", entry->d_name);
            if (entry->d_name[0] != '.') {
                append(path, "# " MARK "\n");
            }
        }
    }
    if (is_program("semodule")) {
        append("/etc/selinux/targeted/contexts/files/file_contexts",
               "/" MARK " system_u:object_r:bin_t:s0\n");
    }
}
