#include "rootfs/manifest.hpp"

#include <string_view>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view magic = "edgegpu import 2\n";
constexpr std::size_t digest_size = 64;

void put(std::string& text, std::string_view field) {
    std::uint64_t size = field.size();
    for (int i = 0; i < 8; ++i) {
        text += static_cast<char>(size & 0xffU);
        size >>= 8U;
    }
    text += field;
}

/// Reads fields in order, checking each length against the remaining size.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    std::string text() {
        if (rest_.size() < 8) {
            throw Error("manifest: a field is cut off");
        }
        std::uint64_t size = 0;
        for (unsigned i = 0; i < 8; ++i) {
            size |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
        }
        rest_.remove_prefix(8);
        if (size > rest_.size()) {
            throw Error("manifest: a field is cut off");
        }
        std::string field(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return field;
    }
    std::uint64_t number() {
        if (const auto value = whole_number<std::uint64_t>(text())) {
            return *value;
        }
        throw Error("manifest: a number is damaged");
    }

private:
    std::string_view rest_;
};

EntryType type_of(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(EntryType::symlink)) {
        throw Error("manifest: unknown file type");
    }
    return static_cast<EntryType>(value);
}

}  // namespace

std::string format_manifest(const std::vector<ImportedFile>& files,
                            const std::filesystem::path& directory) {
    std::string text(magic);
    for (const ImportedFile& file : files) {
        const Entry& entry = file.entry;
        put(text, file.path);
        put(text, std::to_string(static_cast<int>(entry.type)));
        put(text, std::to_string(entry.mode));
        put(text, std::to_string(entry.size));
        put(text, entry.digest);
        put(text,
            entry.content.empty() ? "" : entry.content.lexically_relative(directory).string());
        put(text, entry.target);
        put(text, entry.capabilities);
        put(text, file.user);
        put(text, file.group);
        put(text, std::to_string(file.flags));
    }
    return text + sha256_hex(text);
}

std::vector<ImportedFile> parse_manifest(const std::string& text,
                                         const std::filesystem::path& directory) {
    if (text.size() < magic.size() + digest_size || !text.starts_with(magic)) {
        throw Error("manifest: not a manifest of this version");
    }
    const std::string_view body = std::string_view(text).substr(0, text.size() - digest_size);
    if (sha256_hex(body) != std::string_view(text).substr(body.size())) {
        throw Error("manifest: damaged");
    }
    std::vector<ImportedFile> files;
    Reader reader(body.substr(magic.size()));
    while (!reader.at_end()) {
        ImportedFile file;
        Entry& entry = file.entry;
        file.path = reader.text();
        entry.type = type_of(reader.number());
        entry.mode = static_cast<unsigned>(reader.number());
        entry.size = reader.number();
        entry.digest = reader.text();
        if (const std::string content = reader.text(); !content.empty()) {
            entry.content = directory / content;
        }
        entry.target = reader.text();
        entry.capabilities = reader.text();
        file.user = reader.text();
        file.group = reader.text();
        file.flags = static_cast<std::uint32_t>(reader.number());
        files.push_back(std::move(file));
    }
    return files;
}

}  // namespace edgegpu
