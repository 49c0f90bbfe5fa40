#include "compose/composition_cache.hpp"

#include <fmt/format.h>
#include <optional>

#include "image/overlay.hpp"
#include "rootfs/shims.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

constexpr const char* records_name = "records";
/// A directory, which the entry's own seal does not cover: whether it is complete is checked with
/// the digest of the resulting tree (`seal_of`).
constexpr const char* layer_name = "upper";

/// Digest of everything in the tree that goes into a commit, except for labels.
std::string seal_of(const Tree& tree) {
    Sha256 digest;
    for (const auto& [path, entry] : tree.entries) {
        digest.update_field(path);
        digest.update_field(fmt::format("{} {:o} {} {} {}", static_cast<int>(entry.type),
                                        entry.mode, entry.uid, entry.gid, entry.digest));
        digest.update_field(entry.target);
        digest.update_field(entry.capabilities);
    }
    return digest.hex();
}

/// The content of the file `records`.
struct Records {
    std::string seal;
    std::vector<std::string> kernel_arguments;
    std::vector<std::vector<std::string>> policy_calls;
};

/// In the format of recorded calls: the seal, the kernel arguments, then the policy calls.
std::string format_records(const Tree& tree) {
    return format_calls({{seal_of(tree)}, tree.kernel_arguments}) + format_calls(tree.policy_calls);
}

Records parse_records(const std::string& text) {
    std::vector<std::vector<std::string>> calls = parse_calls(text);
    if (calls.size() < 2 || calls[0].size() != 1) {
        throw Error("the records of a composition are damaged");
    }
    return {calls[0][0], calls[1], {calls.begin() + 2, calls.end()}};
}

}  // namespace

bool restore_composition(const Context& ctx, Tree& tree) {
    const std::optional<StoredEntry> kept = find_stored(ctx, kept_compositions, tree.inputs_digest);
    const std::string* text = kept ? kept->find(records_name) : nullptr;
    if (text == nullptr) {
        return false;
    }
    const Entries before = tree.entries;
    try {
        Records records = parse_records(*text);
        const fs::path layer = kept->directory() / layer_name;
        copy_layer(ctx, layer, tree.upper);
        sync_tree(ctx, tree);
        if (seal_of(tree) == records.seal) {
            tree.kernel_arguments = std::move(records.kernel_arguments);
            tree.policy_calls = std::move(records.policy_calls);
            kept->repeat_remarks(ctx.console);
            return true;
        }
    } catch (const Error& problem) {
        if (problem.kind() == ErrorKind::interrupted) {
            throw;
        }
    }
    tree.entries = before;
    remove_tree(tree.upper);
    return false;
}

void store_composition(const Context& ctx, const Tree& tree, const std::vector<Remark>& remarks) {
    NewEntry entry(ctx, kept_compositions, tree.inputs_digest);
    copy_layer(ctx, tree.upper, entry.directory() / layer_name);
    entry.add(records_name, format_records(tree));
    entry.keep(remarks);
}

}  // namespace edgegpu
