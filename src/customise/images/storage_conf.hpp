#pragma once

#include <string>

namespace edgegpu {

/// The text of a storage.conf (containers-storage.conf(5)) with the directory `path` first in its
/// list additionalimagestores; unchanged if the list has it. Comments and everything else stay as
/// they are. `name` is the file's path in the image, for messages. Throws ErrorKind::usage if the
/// text is no TOML, if its driver does not read such stores, and for the forms of TOML that cannot
/// be extended by adding text.
[[nodiscard]] std::string with_image_store(const std::string& text, const std::string& path,
                                           const std::string& name);

/// Whether a drop-in (storage.conf.d, read by podman 6 and later) has a list additionalimagestores
/// that takes the place of earlier ones, not one with `{append = true}`. Throws as above.
[[nodiscard]] bool replaces_image_stores(const std::string& text, const std::string& name);

/// The text of a storage.conf for ordinary users with `path` as their additional image store, and
/// with the settings that they inherit from the system's file, whose text is `text`, as long as
/// they have no file of their own: the place of their images, options for pulling,
/// ignore_chown_errors. Throws as above.
[[nodiscard]] std::string user_storage_conf(const std::string& text, const std::string& path,
                                            const std::string& name);

}  // namespace edgegpu
