#include "signing/gpg_signature.hpp"

#include <cerrno>
#include <cstddef>

#include <fcntl.h>

#include "signing/gpgme.hpp"
#include "signing/stale_agent.hpp"
#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

using GpgmeKey = Handle<_gpgme_key, gpgme_key_unref>;

/// A key and its GPG home, for error messages.
struct KeyPlace {
    const std::string& key;
    const fs::path& homedir;

    [[nodiscard]] Error failure(std::string_view reason) const {
        return error("cannot sign with GPG key {}: {}", key, reason)
            .hinted(fmt::format("the secret key must be in {} and need no passphrase",
                                homedir.empty() ? "the user's GPG home" : homedir.string()));
    }
    void require(gpgme_error_t code) const {
        if (code != 0) {
            throw failure(gpgme_strerror(code));
        }
    }
};

GpgmeContext open_context(const KeyPlace& place) {
    gpgme_ctx_t raw = nullptr;
    place.require(gpgme_new(&raw));
    GpgmeContext context(raw);
    place.require(gpgme_set_protocol(raw, GPGME_PROTOCOL_OpenPGP));
    if (!place.homedir.empty()) {
        place.require(
            gpgme_ctx_set_engine_info(raw, GPGME_PROTOCOL_OpenPGP, nullptr, place.homedir.c_str()));
    }
    // Non-interactive: an agent may use a cached passphrase, but not ask for one.
    place.require(gpgme_set_pinentry_mode(raw, GPGME_PINENTRY_MODE_ERROR));
    return context;
}

/// The error for a name of several secret keys, with all of them.
Error ambiguous(const KeyPlace& place, gpgme_ctx_t context) {
    Error failure =
        error("cannot sign with GPG key {}: several secret keys have that name", place.key);
    place.require(gpgme_op_keylist_start(context, place.key.c_str(), 1));
    gpgme_key_t raw = nullptr;
    while (gpgme_op_keylist_next(context, &raw) == 0) {
        const GpgmeKey key(raw);
        failure.traced(fmt::format("{} ({})", raw->subkeys->fpr,
                                   raw->uids == nullptr ? "" : printable_line(raw->uids->uid)));
    }
    gpgme_op_keylist_end(context);
    return failure.hinted("set sign to the fingerprint of one of them");
}

GpgmeKey find_secret_key(const KeyPlace& place, gpgme_ctx_t context) {
    gpgme_key_t raw = nullptr;
    gpgme_error_t failed = gpgme_get_key(context, place.key.c_str(), &raw, 1);
    bool stale = false;
    if (gpgme_err_code(failed) == GPG_ERR_EOF && end_stale_agent(place.key, place.homedir)) {
        stale = true;
        failed = gpgme_get_key(context, place.key.c_str(), &raw, 1);
    }
    if (gpgme_err_code(failed) == GPG_ERR_EOF && stale) {
        throw place
            .failure(
                "its gpg-agent does not know it, although its file is in private-keys-v1.d: "
                "that agent was started for another directory of the same name")
            .hinted(place.homedir.empty() ? "gpgconf --kill gpg-agent"
                                          : fmt::format("gpgconf --homedir {} --kill gpg-agent",
                                                        shell_word(place.homedir.string())));
    }
    if (gpgme_err_code(failed) == GPG_ERR_AMBIGUOUS_NAME) {
        throw ambiguous(place, context);
    }
    if (gpgme_err_code(failed) == GPG_ERR_EOF) {
        throw place.failure("no such secret key");
    }
    place.require(failed);
    return GpgmeKey(raw);
}

std::string content_of(const KeyPlace& place, GpgmeData data) {
    std::size_t size = 0;
    const Handle<char, gpgme_free> bytes(gpgme_data_release_and_get_mem(data.release(), &size));
    if (!bytes || size == 0) {
        throw place.failure("GnuPG gave nothing");
    }
    return {bytes.get(), size};
}

/// To be called before anything else of GPGME.
void initialise_gpgme() {
    gpgme_check_version(nullptr);
}

TrialSignature detached_signature(const KeyPlace& place, gpgme_data_t content, bool armor) {
    const GpgmeContext context = open_context(place);
    gpgme_set_armor(context.get(), armor ? 1 : 0);
    const GpgmeKey secret = find_secret_key(place, context.get());
    place.require(gpgme_signers_add(context.get(), secret.get()));
    gpgme_data_t raw = nullptr;
    place.require(gpgme_data_new(&raw));
    GpgmeData signature(raw);
    place.require(gpgme_op_sign(context.get(), content, signature.get(), GPGME_SIG_MODE_DETACH));
    return {content_of(place, std::move(signature)), secret->subkeys->fpr, {}};
}

std::string public_key_of(const KeyPlace& place, const std::string& fingerprint) {
    const GpgmeContext context = open_context(place);
    gpgme_data_t raw = nullptr;
    place.require(gpgme_data_new(&raw));
    GpgmeData key(raw);
    place.require(
        gpgme_op_export(context.get(), fingerprint.c_str(), GPGME_EXPORT_MODE_MINIMAL, key.get()));
    return content_of(place, std::move(key));
}

TrialSignature signature_of(const std::string& key, const fs::path& homedir,
                            std::string_view content) {
    const KeyPlace place{key, homedir};
    initialise_gpgme();
    gpgme_data_t raw = nullptr;
    place.require(gpgme_data_new_from_mem(&raw, content.data(), content.size(), 0));
    const GpgmeData text(raw);
    return detached_signature(place, text.get(), false);
}

}  // namespace

std::string make_gpg_signature(const std::string& key, const fs::path& homedir,
                               std::string_view content) {
    return signature_of(key, homedir, content).signature;
}

TrialSignature make_trial_signature(const std::string& key, const fs::path& homedir) {
    TrialSignature trial = signature_of(key, homedir, trial_text);
    trial.public_key = public_key_of({key, homedir}, trial.fingerprint);
    return trial;
}

std::string make_gpg_file_signature(const std::string& key, const fs::path& homedir,
                                    const fs::path& file) {
    const KeyPlace place{key, homedir};
    initialise_gpgme();
    const Fd opened = open_to_read(file);
    gpgme_data_t raw = nullptr;
    place.require(gpgme_data_new_from_fd(&raw, opened.get()));
    const GpgmeData content(raw);
    return detached_signature(place, content.get(), true).signature;
}

}  // namespace edgegpu
