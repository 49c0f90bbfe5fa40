// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#include "nvidia-standin.h"

// Accepted because blueprints set nvidia-drm.modeset=1 on the kernel's command line.
static bool modeset;
module_param(modeset, bool, 0400);
MODULE_PARM_DESC(modeset, "Accepted and without effect in the stand-in");

static int __init standin_init(void) {
    return modeset ? nvidia_standin_modeset() : 0;
}

static void __exit standin_exit(void) {}

module_init(standin_init);
module_exit(standin_exit);
STANDIN_MODULE("nvidia-drm.ko");
