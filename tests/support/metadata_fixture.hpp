#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace edgegpu::test {

/// Makes repodata/ of a repository that has no RPMs: enough to resolve, in milliseconds.
///
/// A package is a line "NEVRA | KEY: DEPENDENCY, DEPENDENCY | KEY: …" with the keys requires,
/// provides, conflicts, obsoletes, recommends, supplements, files (paths), source (name of the
/// source RPM without ".src.rpm") and digest (what its SHA-256 is made of). A dependency is "x",
/// "x >= 1:2-3" or a rich one in parentheses. The package provides itself as rpmbuild makes it do.
/// `modules` is modulemd YAML, `comps` is comps.xml, `updateinfo` is updateinfo.xml; all may be
/// empty.
void make_metadata(const std::filesystem::path& repository,
                   const std::vector<std::string>& packages, const std::string& modules = "",
                   const std::string& comps = "", const std::string& updateinfo = "");

/// A header as a package database has it, of "name-version-1.x86_64" and one more capability.
std::string installed_header(const std::string& name, const char* version, const char* provides);

}  // namespace edgegpu::test
