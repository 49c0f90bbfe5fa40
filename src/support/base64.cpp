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

std::optional<std::string> base64_bytes(std::string_view text) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (text.find_first_not_of(alphabet) != std::string_view::npos) {
        return std::nullopt;
    }
    std::string bytes = from_base64(std::string(text).append((4 - text.size() % 4) % 4, '='));
    bytes.resize(text.size() * 3 / 4);
    return bytes;
}

}  // namespace edgegpu
