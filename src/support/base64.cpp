#include "support/base64.hpp"

#include "support/glib.hpp"

namespace edgegpu {

std::string to_base64(std::string_view bytes) {
    const TextHandle text(
        g_base64_encode(reinterpret_cast<const guchar*>(bytes.data()), bytes.size()));
    return text.get();
}

std::string from_base64(const std::string& text) {
    gsize size = 0;
    const TextHandle bytes(reinterpret_cast<char*>(g_base64_decode(text.c_str(), &size)));
    return {bytes.get(), size};
}

}  // namespace edgegpu
