// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#include "nvidia-standin.h"

static int __init standin_init(void) {
    return nvidia_standin_version() ? 0 : -ENODEV;
}

static void __exit standin_exit(void) {}

module_init(standin_init);
module_exit(standin_exit);
STANDIN_MODULE("nvidia-peermem.ko");
