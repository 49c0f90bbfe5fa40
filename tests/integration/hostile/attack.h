// What the attack programs share. They run as scriptlets of hostile packages, inside an image that
// is being built, and say on standard output what they reached: "blocked: …", "ESCAPED: …", and
// "end" when they are done.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// What the canaries of the builder begin with (hostile/harness.py).
#define CANARY_BEGINS "edgegpu-canary-"

/// "ESCAPED: WHAT: DETAIL"
void escaped(const char* what, const char* detail);
/// "blocked: WHAT: DETAIL"
void blocked(const char* what, const char* detail);
/// By the result of a system call: one that succeeds is an escape.
void judge(const char* what, long result);
/// The same for a call that the sandbox's filter must refuse before the kernel looks at its
/// arguments: any error but EPERM, EACCES and ENOSYS is an escape.
void judge_filtered(const char* what, long result);
/// A value of /usr/share/hostile/target, "KEY VALUE" a line: where the builder's canaries are.
/// Empty without.
const char* target(const char* key);
/// Whether the file at this descriptor begins as a canary does; closes it.
bool is_canary(int fd);
/// Opens `path` below `directory` (or AT_FDCWD) and reports it if it is a canary.
void try_canary(int directory, const char* path, const char* what);
/// Calls `use` for every process that is visible and none of ours.
void each_stranger(void (*use)(int pid));

void attack_handles(void);
void attack_paths(void);
void attack_search(void);
void attack_processes(void);
void attack_descriptors(void);
void attack_filtered(void);
void attack_namespaces(void);
void attack_sockets(void);
void attack_control(void);
void attack_devices(void);
void attack_setid(void);
void attack_swap(const char* directory, const char* link);
void attack_attributes(void);
void attack_opaque(const char* directory);
void attack_socket(void);
void attack_many(bool endless);
void attack_memory(void);
void attack_fork(void);
void attack_links(void);
void attack_chroot(void);
