#pragma once

#include <filesystem>
#include <string>

#include "blueprint/accounts.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The numbers that accounts of the image get, in the form of a parent's: those of the blueprint's
/// `[accounts]`, then the parent's. Only names and numbers count in them. Throws
/// ErrorKind::usage at `[accounts]` where it gives a user or group of the parent another number, or
/// a number that the parent gave to somebody else.
[[nodiscard]] ParentAccounts seed_accounts(const AccountsRequest& request,
                                           const ParentAccounts& parent);

/// The tree's own lines of sysusers.d(5) for users and groups, in their order, with the numbers
/// that `seeds` has where a line leaves the number open; they win where systemd-sysusers reads them
/// first. All of them, so that accounts are made in the same order as without seeds. Empty where no
/// line gets a number.
[[nodiscard]] std::string seed_sysusers(const Tree& tree, const ParentAccounts& seeds);

/// Throws where an account of the finished tree has another number than `[accounts]` or the parent
/// says, naming it, both numbers, the file of the blueprint and the way out; and where `[accounts]`
/// names one that the tree does not have. Numbers own files in /var of every device: they may not
/// drift.
void check_account_numbers(const AccountsRequest& request, const std::filesystem::path& blueprint,
                           const ParentAccounts& parent, const Tree& tree);

}  // namespace edgegpu
