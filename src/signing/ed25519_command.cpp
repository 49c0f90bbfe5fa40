#include "signing/ed25519_command.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include <unistd.h>

#include "execution/process.hpp"
#include "signing/gpg_signature.hpp"
#include "support/ed25519.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

/// Less than a build waits for the signing process (Signer::patience).
constexpr std::chrono::seconds command_limit{100};
constexpr std::size_t ed25519_signature_size = 64;
constexpr std::uint64_t largest_public_key_file = 1U << 20U;
/// Of what the program writes; it may have a log of its own.
constexpr std::uint64_t largest_signer_file = 64U << 20U;
/// Of a script that could not start a program.
constexpr int no_program = 127;
/// ProcessResult::status is this and the signal's number.
constexpr int signalled = 128;

/// The program's run; what it says on standard error is not for anybody.
ProcessResult run_command(const std::string& program, std::string_view content, const Fd& output) {
    ProcessRequest request;
    request.argv = {program};
    for (char** setting = ::environ; *setting != nullptr; ++setting) {
        request.env.emplace_back(*setting);
    }
    request.input = content;
    request.standard_output = output.get();
    request.limits.time = command_limit;
    request.limits.file_size = largest_signer_file;
    try {
        return run_process(Context(), request);
    } catch (const Error&) {
        return {no_program, {}, Ended::normally, {}};
    }
}

}  // namespace

Ed25519Command::Ed25519Command(std::filesystem::path program,
                               const std::filesystem::path& public_keys)
    : program_(std::move(program)) {
    const std::vector<std::string> keys =
        read_ed25519_keys(read_file(public_keys, largest_public_key_file));
    if (keys.empty()) {
        throw error(ErrorKind::usage, "{}: no public ed25519 key", public_keys.string());
    }
    const std::string trial = output(trial_text);
    for (const std::string& key : keys) {
        if (verifies_ed25519({key}, trial_text, trial)) {
            public_key_ = key;
            return;
        }
    }
    throw error(ErrorKind::usage, "{}: what it signs is verified by no key in {}",
                program_.string(), public_keys.string())
        .hinted("export the public half of the key that it uses");
}

std::string Ed25519Command::output(std::string_view content) const {
    const Fd output = memory_file("signature", "");
    const ProcessResult ended = run_command(program_.string(), content, output);
    if (ended.ended == Ended::time) {
        throw error("{}: has not ended after {} seconds", program_.string(), command_limit.count());
    }
    const std::string by_hand = "try it: " + shell_word(program_.string()) + " < FILE > SIGNATURE";
    if (ended.status != 0 && ended.ended == Ended::normally) {
        throw error("{}: {}", program_.string(),
                    ended.status == no_program ? "cannot be started"
                    : ended.status > signalled
                        ? fmt::format("was ended by signal {}", ended.status - signalled)
                        : fmt::format("ended with status {}", ended.status))
            .hinted(by_hand);
    }
    std::string written(ed25519_signature_size + 1, '\0');
    const ssize_t size = ::pread(output.get(), written.data(), written.size(), 0);
    if (size != static_cast<ssize_t>(ed25519_signature_size)) {
        throw error("{}: gave something that is not a signature of {} bytes", program_.string(),
                    ed25519_signature_size)
            .hinted(by_hand);
    }
    written.resize(ed25519_signature_size);
    return written;
}

std::string Ed25519Command::signature(std::string_view content) const {
    std::string made = output(content);
    if (!verifies_ed25519({public_key_}, content, made)) {
        throw error("{}: gave a signature that its public key does not verify", program_.string());
    }
    return made;
}

}  // namespace edgegpu
