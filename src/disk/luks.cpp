#include "disk/luks.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/ext4/disk_write.hpp"
#include "disk/ext4/ext4_image.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Of two AES-256 keys, as XTS has them.
constexpr std::size_t key_bytes = 64;
/// Blocks that are read at a time.
constexpr std::uint64_t run_limit = 256;
/// dm-crypt counts sectors of this size, whatever the size of those that it encrypts.
constexpr std::uint64_t counted_sector = 512;

/// A random volume key.
class VolumeKey {
public:
    VolumeKey() {
        if (RAND_bytes(bytes_.data(), static_cast<int>(bytes_.size())) != 1) {
            throw error("no random numbers for the key of the disk");
        }
    }
    VolumeKey(const VolumeKey&) = delete;
    VolumeKey& operator=(const VolumeKey&) = delete;
    ~VolumeKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }
    [[nodiscard]] const unsigned char* data() const { return bytes_.data(); }
    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }

private:
    std::array<unsigned char, key_bytes> bytes_{};
};

/// aes-xts-plain64 over blocks of a file system.
class BlockCipher {
public:
    explicit BlockCipher(const VolumeKey& key) : context_(EVP_CIPHER_CTX_new()) {
        if (!context_ || EVP_EncryptInit_ex(context_.get(), EVP_aes_256_xts(), nullptr, key.data(),
                                            nullptr) != 1) {
            throw error("OpenSSL has no AES-256-XTS");
        }
    }
    /// In place; `block` is its number in the file system.
    void encrypt(char* bytes, std::uint64_t block) {
        std::array<unsigned char, 16> tweak{};
        std::uint64_t sector = block * (ext4_block / counted_sector);
        for (std::size_t i = 0; i < sizeof(sector); ++i) {
            tweak[i] = static_cast<unsigned char>(sector >> (8 * i));
        }
        int length = 0;
        auto* data = reinterpret_cast<unsigned char*>(bytes);
        if (EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, tweak.data()) != 1 ||
            EVP_EncryptUpdate(context_.get(), data, &length, data, ext4_block) != 1 ||
            length != static_cast<int>(ext4_block)) {
            throw error("OpenSSL cannot encrypt a block of the disk");
        }
    }

private:
    Handle<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free> context_;
};

/// Encrypts the blocks that the file system uses: its own structures and everything in it.
void encrypt_blocks(const Context& ctx, const fs::path& disk, const Ext4Format& format,
                    const VolumeKey& key) {
    const Ext4Handle fs = open_ext4(disk, format);
    const Fd file = open_file(disk, O_RDWR);
    BlockCipher cipher(key);
    std::vector<char> run(run_limit * ext4_block);
    const std::uint64_t end = ext2fs_blocks_count(fs->super);
    blk64_t next = 0;
    while (next < end &&
           ext2fs_find_first_set_block_bitmap2(fs->block_map, next, end - 1, &next) == 0) {
        ctx.check_cancelled();
        const std::uint64_t longest = std::min<std::uint64_t>(end, next + run_limit);
        blk64_t free = longest;
        if (ext2fs_find_first_zero_block_bitmap2(fs->block_map, next, longest - 1, &free) != 0) {
            free = longest;
        }
        const std::size_t size = (free - next) * ext4_block;
        const std::uint64_t offset = format.offset + next * ext4_block;
        if (const ssize_t got = read_at(file.get(), run.data(), size, offset);
            got != static_cast<ssize_t>(size)) {
            throw errno_error(disk.string(), got < 0 ? errno : EIO);
        }
        for (blk64_t block = next; block < free; ++block) {
            cipher.encrypt(run.data() + (block - next) * ext4_block, block);
        }
        write_to_disk(file.get(), {run.data(), size}, offset, disk);
        next = free;
    }
}

/// A directory for what cryptsetup reads and writes, removed at the end.
class HeaderFiles {
public:
    explicit HeaderFiles(const fs::path& disk) : place_(disk.string() + ".luks") {
        if (::mkdir(place_.c_str(), 0700) != 0) {
            throw errno_error(place_.string(), errno);
        }
    }
    HeaderFiles(const HeaderFiles&) = delete;
    HeaderFiles& operator=(const HeaderFiles&) = delete;
    ~HeaderFiles() {
        std::error_code ignored;
        fs::remove_all(place_, ignored);
    }
    [[nodiscard]] fs::path header() const { return place_ / "header"; }
    [[nodiscard]] fs::path key() const { return place_ / "key"; }
    [[nodiscard]] fs::path passphrase() const { return place_ / "passphrase"; }

private:
    fs::path place_;
};

/// A LUKS2 header with one key slot, whose passphrase is empty.
void make_header(const Context& ctx, const HeaderFiles& files, const VolumeKey& key,
                 const std::string& uuid) {
    write_file(files.key(), key.text(), 0600);
    write_file(files.passphrase(), "", 0600);
    // cryptsetup wants a device that has data behind the header.
    write_file(files.header(), "", 0600);
    fs::resize_file(files.header(), luks_header_size + ext4_block);
    ProcessRequest request;
    request.argv = {"cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--cipher",
                    "aes-xts-plain64", "--key-size", std::to_string(key_bytes * 8), "--sector-size",
                    std::to_string(ext4_block), "--offset",
                    std::to_string(luks_header_size / counted_sector),
                    // An empty passphrase does not get better by being hashed for a second.
                    "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--uuid", uuid,
                    "--volume-key-file", files.key().string(), "--key-file",
                    files.passphrase().string(), files.header().string()};
    request.env = {"PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"};
    request.purpose = "header of the encrypted partition";
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("cryptsetup cannot make the header of the encrypted partition: {}",
                    fmt::join(last_lines(result.output, 3), "; "))
            .hinted("edgegpu needs cryptsetup 2.5 or later");
    }
}

/// Copies what is not zero, so that the disk stays sparse.
void copy_header(const fs::path& header, const fs::path& disk, std::uint64_t offset) {
    const std::string content = read_file(header).substr(0, luks_header_size);
    const Fd file = open_file(disk, O_WRONLY);
    for (std::size_t at = 0; at < content.size(); at += ext4_block) {
        const std::string_view piece = std::string_view(content).substr(at, ext4_block);
        if (piece.find_first_not_of('\0') != std::string_view::npos) {
            write_to_disk(file.get(), piece, offset + at, disk);
        }
    }
}

}  // namespace

void encrypt_ext4(const Context& ctx, const fs::path& disk, const Ext4Format& format,
                  const std::string& uuid) {
    const VolumeKey key;
    const HeaderFiles files(disk);
    make_header(ctx, files, key, uuid);
    encrypt_blocks(ctx, disk, format, key);
    copy_header(files.header(), disk, format.offset - luks_header_size);
}

std::vector<std::string> luks_arguments(const std::string& uuid) {
    return {"rd.luks.name=" + uuid + "=root",
            "rd.luks.options=" + uuid + "=tpm2-device=auto,try-empty-password=yes"};
}

}  // namespace edgegpu
