#pragma once

#include <gpgme.h>

#include "support/handles.hpp"

namespace edgegpu {

using GpgmeContext = Handle<gpgme_context, gpgme_release>;
using GpgmeData = Handle<gpgme_data, gpgme_data_release>;

}  // namespace edgegpu
