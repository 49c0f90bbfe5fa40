/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Shared by the stand-in kernel modules of edgegpu's lab. DRIVER_VERSION comes from the Makefile.
 */
#ifndef EDGEGPU_LAB_NVIDIA_STANDIN_H
#define EDGEGPU_LAB_NVIDIA_STANDIN_H

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>

/** The driver version, exported by nvidia.ko; using it makes the other modules depend on nvidia.ko.
 */
const char* nvidia_standin_version(void);

/** Exported by nvidia-modeset.ko, so that nvidia-drm.ko depends on it as the real one does. */
int nvidia_standin_modeset(void);

#define STANDIN_MODULE(what)        \
    MODULE_LICENSE("GPL");          \
    MODULE_VERSION(DRIVER_VERSION); \
    MODULE_AUTHOR("edgegpu");       \
    MODULE_DESCRIPTION("Stand-in for " what " for edgegpu's lab")

#endif
