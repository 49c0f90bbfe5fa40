#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// One of the mistakes of a file.
struct Mistake {
    /// Line 0 where its message begins with no place.
    SourceLocation location;
    /// Without the place.
    std::string message;
    /// The way out, or empty.
    std::string hint;
};

/// Takes an error of a reader apart: "FILE:LINE:COLUMN: MESSAGE".
[[nodiscard]] Mistake mistake_of(const Error& failure);

/// Several mistakes as one Error: its text is that of all of them, one below the other.
class MistakesError : public Error {
public:
    /// `all` are at least two, in the order to be shown.
    explicit MistakesError(std::vector<Error> all);
    [[nodiscard]] const std::vector<Error>& all() const noexcept { return all_; }

private:
    std::vector<Error> all_;
};

/// The single errors of which `failure` is made: itself, where it is no MistakesError.
[[nodiscard]] std::vector<Error> single_errors(const Error& failure);

/// What Error::render gives, with every "error" and "hint" of a MistakesError coloured.
[[nodiscard]] std::string render_error(const Error& failure, bool colored);

/// Gathers the mistakes of a blueprint, so that one run tells all of them.
class Mistakes {
public:
    /// More than this many are counted and not kept: nobody reads them, and a hostile file has
    /// millions.
    static constexpr std::size_t most = 100;

    /// Runs `read`. An ErrorKind::usage Error that it throws is kept; true if there was none.
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
    void add(const Error& failure);
    [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
    /// How many there are, those beyond `most` included.
    [[nodiscard]] std::size_t count() const noexcept { return kept_.size() + passed_over_; }
    /// Throws what was gathered, if anything: a single mistake as it came, several as a
    /// MistakesError in order of lines, files in the order in which they were read, `first` before
    /// all others. What two steps found alike is there once, and so is a hint that several have.
    void throw_any(const std::string& first) const;

private:
    std::vector<Error> kept_;
    std::size_t passed_over_ = 0;
};

}  // namespace edgegpu
