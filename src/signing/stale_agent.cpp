#include "signing/stale_agent.hpp"

#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "signing/gpgme.hpp"
#include "support/files/proc_file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

using GpgmeKey = Handle<_gpgme_key, gpgme_key_unref>;
using GpgmeText = Handle<char, gpgme_free>;

constexpr auto patience = std::chrono::seconds(5);
constexpr auto pause = std::chrono::milliseconds(20);

/// A context for `protocol` with a home or, of the Assuan protocol, a socket; null on failure.
GpgmeContext context_for(gpgme_protocol_t protocol, const char* file, const char* home) {
    gpgme_ctx_t raw = nullptr;
    if (gpgme_new(&raw) != 0) {
        return nullptr;
    }
    GpgmeContext context(raw);
    if (gpgme_set_protocol(raw, protocol) != 0 ||
        ((file != nullptr || home != nullptr) &&
         gpgme_ctx_set_engine_info(raw, protocol, file, home) != 0)) {
        return nullptr;
    }
    return context;
}

/// Whether the home has the file of a secret key of `key`.
bool has_secret_file(const std::string& key, const fs::path& homedir) {
    const GpgmeContext context =
        context_for(GPGME_PROTOCOL_OpenPGP, nullptr, homedir.empty() ? nullptr : homedir.c_str());
    constexpr auto mode = GPGME_KEYLIST_MODE_LOCAL | GPGME_KEYLIST_MODE_WITH_KEYGRIP;
    gpgme_key_t raw = nullptr;
    if (!context || gpgme_set_keylist_mode(context.get(), mode) != 0 ||
        gpgme_get_key(context.get(), key.c_str(), &raw, 0) != 0) {
        return false;
    }
    const GpgmeKey known(raw);
    const char* users = gpgme_get_dirinfo("homedir");
    const fs::path home = homedir.empty() && users != nullptr ? fs::path(users) : homedir;
    for (gpgme_subkey_t part = raw->subkeys; part != nullptr; part = part->next) {
        std::error_code code;
        if (part->keygrip != nullptr &&
            fs::exists(home / "private-keys-v1.d" / (std::string(part->keygrip) + ".key"), code)) {
            return true;
        }
    }
    return false;
}

std::string socket_of_agent(const fs::path& homedir) {
    const GpgmeContext context =
        context_for(GPGME_PROTOCOL_GPGCONF, nullptr, homedir.empty() ? nullptr : homedir.c_str());
    char* raw = nullptr;
    if (!context || gpgme_op_conf_dir(context.get(), "agent-socket", &raw) != 0 || raw == nullptr) {
        return {};
    }
    const GpgmeText path(raw);
    return path.get();
}

extern "C" gpgme_error_t take_data(void* answer, const void* data, std::size_t size) {
    static_cast<std::string*>(answer)->append(static_cast<const char*>(data), size);
    return 0;
}

/// What the agent at the socket answers; nothing if there is none, or it refuses.
std::optional<std::string> ask_agent(const std::string& socket, const char* command) {
    const GpgmeContext context = context_for(GPGME_PROTOCOL_ASSUAN, socket.c_str(), nullptr);
    std::string answer;
    gpgme_error_t refused = 0;
    if (!context ||
        gpgme_op_assuan_transact_ext(context.get(), command, take_data, &answer, nullptr, nullptr,
                                     nullptr, nullptr, &refused) != 0 ||
        refused != 0) {
        return std::nullopt;
    }
    return answer;
}

/// Whether the process with that number runs, as /proc/PID/stat says: "4711 (gpg-agent) S 1 …".
bool is_running(const std::string& process) {
    const std::string stat = read_proc_file(fmt::format("/proc/{}/stat", process)).value_or("");
    const std::size_t name = stat.rfind(") ");
    return name != std::string::npos && stat.find_first_of("ZX", name) != name + 2;
}

}  // namespace

bool end_stale_agent(const std::string& key, const fs::path& homedir) {
    if (!has_secret_file(key, homedir)) {
        return false;
    }
    const std::string socket = socket_of_agent(homedir);
    const std::optional<std::string> process = ask_agent(socket, "GETINFO pid");
    if (!process || !ask_agent(socket, "KILLAGENT")) {
        return false;
    }
    // It answers before it ends. It is not asked again: when it resets the connection, gpgme 1.18
    // reads beyond its buffer (the -1 of read(2) as a size, in _gpgme_debug_buffer).
    const auto until = std::chrono::steady_clock::now() + patience;
    while (is_running(*process) && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(pause);
    }
    return true;
}

}  // namespace edgegpu
