#include "openpgp/gnupg.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "openpgp/gpgme.hpp"
#include "sandbox/tool.hpp"
#include "support/directory.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// A temporary GnuPG home. Its path is short, since GnuPG's sockets must fit into 108 bytes. Beside
/// it is a script that runs gpg in a sandbox with access to this home only, because keys and
/// signatures are untrusted.
class Home {
public:
    Home() : directory_(fs::temp_directory_path() / "edgegpu-gpg"), path_(directory_ / "home") {
        if (::mkdir(path_.c_str(), 0700) != 0) {
            throw errno_error(path_.string(), errno);
        }
        // Instead of the user's configuration of trust, key servers and agents.
        write_file(path_ / "gpg.conf",
                   "no-autostart\nno-auto-check-trustdb\ntrust-model always\n"
                   "allow-non-selfsigned-uid\ndisable-dirmngr\nno-auto-key-retrieve\n"
                   "no-auto-key-import\nno-random-seed-file\n",
                   0600);
        write_tool_script(program(), "gpg", path_, directory_ / "log");
        if (::access(program().c_str(), X_OK) != 0) {
            throw errno_error(program().string(), errno)
                .hinted(
                    "programs cannot be started in the directory for temporary files: name another "
                    "with TMPDIR");
        }
    }
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }
    /// The script that runs gpg, which gpg itself cannot access.
    [[nodiscard]] fs::path program() const { return directory_ / "gpg"; }
    /// Throws if gpg was not started, for which GPGME gives no reason.
    void check_sandbox() const { check_tool_script("gpg", directory_ / "log"); }

private:
    TemporaryDirectory directory_;
    fs::path path_;
};

void require(gpgme_error_t code, const char* what) {
    if (code != 0) {
        throw error("cannot {} with GnuPG: {}", what, gpgme_strerror(code))
            .hinted("signatures are checked with gpg: install the package gnupg");
    }
}

GpgmeContext open_context(const Home& home) {
    gpgme_check_version(nullptr);
    gpgme_ctx_t raw = nullptr;
    require(gpgme_new(&raw), "begin");
    GpgmeContext context(raw);
    require(gpgme_set_protocol(raw, GPGME_PROTOCOL_OpenPGP), "begin");
    const gpgme_error_t unusable = gpgme_ctx_set_engine_info(
        raw, GPGME_PROTOCOL_OpenPGP, home.program().c_str(), home.path().c_str());
    home.check_sandbox();
    require(unusable, "begin");
    gpgme_set_offline(raw, 1);
    return context;
}

/// GPGME data that refers to `bytes`, which must outlive it.
GpgmeData view(std::string_view bytes) {
    gpgme_data_t raw = nullptr;
    require(gpgme_data_new_from_mem(&raw, bytes.data(), bytes.size(), 0), "read");
    return GpgmeData(raw);
}

GnupgAnswer answer_of(gpgme_error_t status, std::string& detail) {
    switch (gpgme_err_code(status)) {
        case GPG_ERR_NO_ERROR:
        case GPG_ERR_KEY_EXPIRED:
            return GnupgAnswer::fits;
        case GPG_ERR_SIG_EXPIRED:
            return GnupgAnswer::expired;
        case GPG_ERR_BAD_SIGNATURE:
            return GnupgAnswer::bad;
        case GPG_ERR_CERT_REVOKED:
            return GnupgAnswer::revoked;
        default:
            detail = gpgme_strerror(status);
            return GnupgAnswer::refused;
    }
}

}  // namespace

GnupgAnswer ask_gnupg(std::string_view content, std::string_view signature,
                      const std::string& certificates, std::string& detail) {
    // GPGME is initialised by its first call, which must not be concurrent.
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> alone(one_at_a_time);
    const Home home;
    const GpgmeContext context = open_context(home);
    const GpgmeData keys = view(certificates);
    const gpgme_error_t unread = gpgme_op_import(context.get(), keys.get());
    home.check_sandbox();
    require(unread, "read the repository's keys");
    const gpgme_import_result_t imported = gpgme_op_import_result(context.get());
    if (imported == nullptr || imported->imported + imported->unchanged == 0) {
        detail = "GnuPG cannot use its key";
        return GnupgAnswer::refused;
    }
    const GpgmeData packet = view(signature);
    const GpgmeData text = view(content);
    const gpgme_error_t failed = gpgme_op_verify(context.get(), packet.get(), text.get(), nullptr);
    home.check_sandbox();
    const gpgme_verify_result_t result = gpgme_op_verify_result(context.get());
    if (failed != 0 || result == nullptr || result->signatures == nullptr) {
        detail = failed != 0 ? gpgme_strerror(failed) : "GnuPG sees no signature in it";
        return GnupgAnswer::refused;
    }
    return answer_of(result->signatures->status, detail);
}

}  // namespace edgegpu
