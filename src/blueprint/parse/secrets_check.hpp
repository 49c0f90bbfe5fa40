#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "support/path_glob.hpp"
#include "support/written_secrets.hpp"

namespace edgegpu {

/// Looks for secrets in what a blueprint puts into the image, except where it allows them
/// (`[[allow_secrets]]`): a commit is read by everybody who can read its repository or a device.
class SecretCheck {
public:
    /// Both must outlive it.
    SecretCheck(const std::vector<SecretAllowance>& allowances, Mistakes& mistakes);

    /// The content of a file that will be at `path` in the image and comes from `file`, of the
    /// build machine. Adds a mistake at its line.
    void check_file(const std::string& file, const std::string& path, std::string_view content);
    /// A text of the blueprint, or a file inside another: adds a mistake at `location`, which
    /// begins with `source` ("overlay x.tar: ").
    void check_text(const SourceLocation& location, std::string_view source,
                    const std::string& path, std::string_view content);
    /// The first secret in the content of a file that will be at `path`, unless it is allowed.
    [[nodiscard]] std::optional<WrittenSecret> find(const std::string& path,
                                                    std::string_view content);
    /// Adds a mistake for what is a secret ("a private key", "the content of Secret x/y"), unless
    /// it is allowed at `path`; `hint` precedes the usual one. `machine` is its machine_secret.
    /// Whether it was a mistake.
    bool add(const SourceLocation& location, std::string_view what, const std::string& path,
             const std::string& hint, std::string_view machine = {});
    /// One for each secret of a machine that is allowed and there.
    [[nodiscard]] std::vector<std::string> warnings() const;
    /// Adds a mistake for each allowance that was not needed, and for which `is_judged` is true.
    template <typename IsJudged>
    void finish(const IsJudged& is_judged) {
        for (const Allowance& allowance : allowances_) {
            if (!allowance.used && is_judged(*allowance.request)) {
                note_idle(*allowance.request);
            }
        }
    }

private:
    struct Allowance {
        const SecretAllowance* request;
        PathGlob glob;
        bool used = false;
    };
    /// Whether a secret at this path is allowed; the allowance is then used.
    [[nodiscard]] bool allowed(std::string_view path, std::string_view machine);
    void note_idle(const SecretAllowance& allowance) const;

    std::vector<Allowance> allowances_;
    Mistakes& mistakes_;
};

/// Checks what the blueprint brings: files, units, first boot scripts, policy modules, kernel
/// arguments, URLs, MicroShift's configuration. Not overlays (check_blueprint) and bundles, which
/// are checked when they are rendered (bundles/install/bundle_secrets.hpp). Files that cannot be
/// read are left to other checks.
void check_secrets(const Blueprint& blueprint, SecretCheck& check);

/// Whether an allowance is for bundles: its pattern begins with a directory of MicroShift's
/// manifests.
[[nodiscard]] bool is_for_bundles(const SecretAllowance& allowance);

}  // namespace edgegpu
