// A stand-in for nss-altfiles, which Debian 12 does not have: a module of the name service (glibc's
// NSS) that answers "passwd" and "group" out of /usr/lib/passwd and /usr/lib/group, as `files` does
// out of /etc. The lines are read by glibc's own fgetpwent_r and fgetgrent_r. There is no
// _nss_altfiles_initgroups_dyn: glibc then goes through all groups itself.
#define _GNU_SOURCE  // fgetpwent_r, fgetgrent_r
#include <errno.h>
#include <grp.h>
#include <nss.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

// What fopen's and fget..ent_r's errors are to the name service. A buffer that is too small is
// asked for again, larger; what cannot be read is as if the module were not there.
static enum nss_status status_of(int error) {
    switch (error) {
        case 0:
            return NSS_STATUS_SUCCESS;
        case ENOENT:
            return NSS_STATUS_NOTFOUND;
        case ERANGE:
        case EAGAIN:
            return NSS_STATUS_TRYAGAIN;
        default:
            return NSS_STATUS_UNAVAIL;
    }
}

// The functions of one kind of account: KIND is pw or gr, as in fgetpwent_r, and RECORD is its
// struct.
#define ACCOUNTS(KIND, RECORD, PATH)                                                           \
    /* The list of all that set..ent begins; one for the whole process, as glibc's own are. */ \
    static FILE* KIND##_list;                                                                  \
    static pthread_mutex_t KIND##_lock = PTHREAD_MUTEX_INITIALIZER;                            \
                                                                                               \
    static void KIND##_close(void) {                                                           \
        if (KIND##_list)                                                                       \
            fclose(KIND##_list);                                                               \
        KIND##_list = NULL;                                                                    \
    }                                                                                          \
                                                                                               \
    enum nss_status _nss_altfiles_set##KIND##ent(int stay_open) {                              \
        (void)stay_open;                                                                       \
        pthread_mutex_lock(&KIND##_lock);                                                      \
        KIND##_close();                                                                        \
        KIND##_list = fopen(PATH, "re");                                                       \
        enum nss_status status = KIND##_list ? NSS_STATUS_SUCCESS : NSS_STATUS_UNAVAIL;        \
        pthread_mutex_unlock(&KIND##_lock);                                                    \
        return status;                                                                         \
    }                                                                                          \
                                                                                               \
    enum nss_status _nss_altfiles_end##KIND##ent(void) {                                       \
        pthread_mutex_lock(&KIND##_lock);                                                      \
        KIND##_close();                                                                        \
        pthread_mutex_unlock(&KIND##_lock);                                                    \
        return NSS_STATUS_SUCCESS;                                                             \
    }                                                                                          \
                                                                                               \
    enum nss_status _nss_altfiles_get##KIND##ent_r(struct RECORD* entry, char* buffer,         \
                                                   size_t length, int* error) {                \
        struct RECORD* found;                                                                  \
        enum nss_status status = NSS_STATUS_UNAVAIL;                                           \
        pthread_mutex_lock(&KIND##_lock);                                                      \
        if (!KIND##_list)                                                                      \
            KIND##_list = fopen(PATH, "re");                                                   \
        if (KIND##_list) {                                                                     \
            *error = fget##KIND##ent_r(KIND##_list, entry, buffer, length, &found);            \
            status = status_of(*error);                                                        \
        } else {                                                                               \
            *error = errno;                                                                    \
        }                                                                                      \
        pthread_mutex_unlock(&KIND##_lock);                                                    \
        return status;                                                                         \
    }                                                                                          \
                                                                                               \
    /* The first entry with this name or, where there is no name, with this number. */         \
    static enum nss_status KIND##_find(const char* name, id_t id, struct RECORD* entry,        \
                                       char* buffer, size_t length, int* error) {              \
        FILE* file = fopen(PATH, "re");                                                        \
        if (!file) {                                                                           \
            *error = errno;                                                                    \
            return NSS_STATUS_UNAVAIL;                                                         \
        }                                                                                      \
        struct RECORD* found;                                                                  \
        do                                                                                     \
            *error = fget##KIND##ent_r(file, entry, buffer, length, &found);                   \
        while (*error == 0 &&                                                                  \
               !(name ? strcmp(entry->KIND##_name, name) == 0 : KIND##_id(entry) == id));      \
        fclose(file);                                                                          \
        return status_of(*error);                                                              \
    }                                                                                          \
                                                                                               \
    enum nss_status _nss_altfiles_get##KIND##nam_r(const char* name, struct RECORD* entry,     \
                                                   char* buffer, size_t length, int* error) {  \
        return KIND##_find(name, 0, entry, buffer, length, error);                             \
    }

static id_t pw_id(const struct passwd* entry) {
    return entry->pw_uid;
}

static id_t gr_id(const struct group* entry) {
    return entry->gr_gid;
}

ACCOUNTS(pw, passwd, "/usr/lib/passwd")
ACCOUNTS(gr, group, "/usr/lib/group")

enum nss_status _nss_altfiles_getpwuid_r(uid_t uid, struct passwd* entry, char* buffer,
                                         size_t length, int* error) {
    return pw_find(NULL, uid, entry, buffer, length, error);
}

enum nss_status _nss_altfiles_getgrgid_r(gid_t gid, struct group* entry, char* buffer,
                                         size_t length, int* error) {
    return gr_find(NULL, gid, entry, buffer, length, error);
}
