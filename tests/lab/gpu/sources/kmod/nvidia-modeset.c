// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#include "nvidia-standin.h"

int nvidia_standin_modeset(void) {
    return nvidia_standin_version() ? 0 : -ENODEV;
}
EXPORT_SYMBOL(nvidia_standin_modeset);

static int __init standin_init(void) {
    return nvidia_standin_modeset();
}

static void __exit standin_exit(void) {}

module_init(standin_init);
module_exit(standin_exit);
STANDIN_MODULE("nvidia-modeset.ko");
