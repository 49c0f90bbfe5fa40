#pragma once

#include <filesystem>
#include <string>

#include "blueprint/accounts.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The numbers that accounts of the image get, in the form of the parent's files: those of the
/// blueprint's `[accounts]`, then the parent's. Only names and numbers are of use in them. Throws
/// ErrorKind::usage with the line of `[accounts]` if it gives a user or group another number than
/// the parent does, or a number that another account of the parent has.
[[nodiscard]] ParentAccounts seed_accounts(const AccountsRequest& request,
                                           const ParentAccounts& parent);

/// The tree's lines of sysusers.d(5) for users and groups, with the numbers of `seeds` where a line
/// has none; they take precedence if systemd-sysusers reads them first. Contains all lines, so that
/// accounts are created in the same order as without seeds; empty if no line gets a number.
[[nodiscard]] std::string seed_sysusers(const Tree& tree, const ParentAccounts& seeds);

/// Throws ErrorKind::usage if an account of the finished tree has another number than in
/// `[accounts]` or in the parent, or if the tree lacks an account of `[accounts]`. Account numbers
/// must not change, because files in /var of devices belong to them.
void check_account_numbers(const AccountsRequest& request, const std::filesystem::path& blueprint,
                           const ParentAccounts& parent, const Tree& tree);

}  // namespace edgegpu
