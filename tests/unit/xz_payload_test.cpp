#include "delta/xz_payload.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <lzma.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

/// libostree 2026.3: OSTREE_LZMA_DECODER_MEMLIMIT
constexpr std::uint64_t memory_of_clients = 100ULL << 20U;

/// What a client makes of it.
std::string unpacked(std::string_view file, std::size_t size) {
    EXPECT_EQ(file.substr(0, 1), "x");
    std::string out(size + 1, '\0');
    std::uint64_t memory = memory_of_clients;
    std::size_t read = 1;
    std::size_t written = 0;
    EXPECT_EQ(lzma_stream_buffer_decode(
                  &memory, 0, nullptr, reinterpret_cast<const std::uint8_t*>(file.data()), &read,
                  file.size(), reinterpret_cast<std::uint8_t*>(out.data()), &written, out.size()),
              LZMA_OK);
    EXPECT_EQ(read, file.size());
    out.resize(written);
    return out;
}

/// Quickly compressed, and different everywhere.
std::string lines(std::size_t size) {
    std::string text;
    text.reserve(size + 100);
    for (std::size_t i = 0; text.size() < size; ++i) {
        text += std::to_string(i);
        text.append(90, ' ');
    }
    text.resize(size);
    return text;
}

TEST(XzPayload, IsWhatClientsUnpack) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
        const std::string payload = lines(size);
        EXPECT_EQ(unpacked(xz_payload(Context{}, payload), size), payload) << size;
    }
}

TEST(XzPayload, OfALargeOneIsTheSameWithAnyNumberOfJobs) {
    const std::string payload = lines((64U << 20U) + 12'345);
    Context one;
    Context two;
    two.jobs = 8;
    const std::string file = xz_payload(one, payload);
    EXPECT_TRUE(file == xz_payload(two, payload));
    EXPECT_TRUE(unpacked(file, payload.size()) == payload);
    EXPECT_LT(file.size(), payload.size() / 20);
}

TEST(XzPayload, OfALargeOneEndsWhenTheUserWantsToStop) {
    const std::atomic<bool> cancelled{true};
    Context ctx;
    ctx.cancelled = &cancelled;
    EXPECT_THROW(static_cast<void>(xz_payload(ctx, lines((64U << 20U) + 1))), Error);
}

}  // namespace
}  // namespace edgegpu
