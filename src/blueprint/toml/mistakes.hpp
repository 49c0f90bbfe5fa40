#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// A mistake in a file.
struct Mistake {
    /// Line 0 if the message has no location.
    SourceLocation location;
    /// Without the location.
    std::string message;
    /// May be empty.
    std::string hint;
};

/// Splits the message of an error, "FILE:LINE:COLUMN: MESSAGE".
[[nodiscard]] Mistake mistake_of(const Error& failure);

/// Where `other` is, for a message at `here`: "line 4", or "base.toml:4:1" in another file.
[[nodiscard]] std::string place_seen_from(const SourceLocation& here, const SourceLocation& other);

/// Throws if one of `items` has the name of `added` already, which is at `place`. `what` is "user".
template <typename Item>
void require_new(const std::vector<Item>& items, std::string Item::*name, const Item& added,
                 const SourceLocation& place, std::string_view what) {
    for (const Item& earlier : items) {
        if (earlier.*name == added.*name) {
            throw error_at(place, "duplicate {} \"{}\" (first at {})", what, added.*name,
                           place_seen_from(place, earlier.location));
        }
    }
}

/// Several mistakes as one Error, whose text consists of all of theirs.
class MistakesError : public Error {
public:
    /// `all`: at least two, in the order in which they are shown.
    explicit MistakesError(std::vector<Error> all);
    [[nodiscard]] const std::vector<Error>& all() const noexcept { return all_; }

private:
    std::vector<Error> all_;
};

/// The single errors of a MistakesError; for any other error the error itself.
[[nodiscard]] std::vector<Error> single_errors(const Error& failure);

/// Like Error::render, but with every "error" and "hint" of a MistakesError coloured.
[[nodiscard]] std::string render_error(const Error& failure, bool colored);

/// Collects the mistakes of a blueprint, so that one run reports all of them.
class Mistakes {
public:
    /// Mistakes beyond this number are only counted: nobody reads them, and a malicious file may
    /// have millions.
    static constexpr std::size_t most = 100;

    /// Runs `read` and adds an ErrorKind::usage Error that it throws; true if there was none.
    template <typename Read>
    bool attempt(Read&& read) {
        try {
            std::forward<Read>(read)();
            return true;
        } catch (const Error& failure) {
            if (failure.kind() != ErrorKind::usage) {
                throw;
            }
            add(failure);
            return false;
        }
    }
    /// Adds `failure`, or each error of a MistakesError.
    void add(const Error& failure);
    /// Adds those of `other`.
    void add_all(const Mistakes& other);
    [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
    /// Number of mistakes, including those beyond `most`.
    [[nodiscard]] std::size_t count() const noexcept { return kept_.size() + passed_over_; }
    /// Throws the mistakes, if any: a single one unchanged, several as a MistakesError, sorted by
    /// lines within each file; files in the order of their first mistake, `first` before all
    /// others. Duplicate messages and hints are shown once.
    void throw_any(const std::string& first) const;

private:
    std::vector<Error> kept_;
    std::size_t passed_over_ = 0;
};

}  // namespace edgegpu
