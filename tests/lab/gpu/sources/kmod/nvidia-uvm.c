// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#include "nvidia-standin-device.h"
#include "nvidia-standin.h"

static int major;

static int __init standin_init(void) {
    if (!nvidia_standin_version())
        return -ENODEV;
    major = nvidia_standin_register(0, "nvidia-uvm");
    return major < 0 ? major : 0;
}

static void __exit standin_exit(void) {
    nvidia_standin_unregister(major, "nvidia-uvm");
}

module_init(standin_init);
module_exit(standin_exit);
STANDIN_MODULE("nvidia-uvm.ko");
