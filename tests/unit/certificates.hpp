#pragma once

namespace edgegpu::test {

/// A certificate of an authority, serial number 1a2b3c, for a hundred years; made by openssl for
/// these tests, its key thrown away.
inline constexpr const char* authority_certificate = R"(-----BEGIN CERTIFICATE-----
MIIBiTCCAS6gAwIBAgIDGis8MAoGCCqGSM49BAMCMCExHzAdBgNVBAMMFmVkZ2Vn
cHUgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMTk0NjQyWhgPMjEyNjEwMjgxOTQ2
NDJaMCExHzAdBgNVBAMMFmVkZ2VncHUgdGVzdCBhdXRob3JpdHkwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAARAjMbPpoNnCVm4xtxHK5twlmTp7Mkpf185ovdgJh3F
SJU0pvSbe9V8ba5Oy0KkWq5lrnjHuBh4K+CSHq+Mk3TTo1MwUTAdBgNVHQ4EFgQU
p16gtKYwLDodj7z6tw1BFt8fKIAwHwYDVR0jBBgwFoAUp16gtKYwLDodj7z6tw1B
Ft8fKIAwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA1+RcgmB9
o+f+QsF9lwXPOyCkO3ipb7oQZy78ljLhGxoCIQDTSpSyuT5jPDS8SU8kdfqChkWO
/Ss8Qzzf4JBO/5Aohw==
-----END CERTIFICATE-----
)";

/// The same with CA:FALSE.
inline constexpr const char* leaf_certificate = R"(-----BEGIN CERTIFICATE-----
MIIBXzCCAQWgAwIBAgIBdzAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARsZWFmMCAX
DTI2MTEyMTE5NDY0MloYDzIxMjYxMDI4MTk0NjQyWjAPMQ0wCwYDVQQDDARsZWFm
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3SaDvyAioh88AuN+uiiFJ2IWLmnA
Q8YzfneIQXml65zCf2o0BvPZgEiK2jN7dH0EG6TSGZlRYoQeSV+hsrL0qKNQME4w
HQYDVR0OBBYEFC32qzc4aR6UnI3LV8QuRtxEnoO7MB8GA1UdIwQYMBaAFC32qzc4
aR6UnI3LV8QuRtxEnoO7MAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSAAwRQIg
PPfhzDm6IUuhCC2UPcEBI9SYPTyWmMsyx7rO/c/EytICIQCgeOw0628xxe5758UC
vIk17ZfE8A1r6fVjmpgNAPtAFA==
-----END CERTIFICATE-----
)";

}  // namespace edgegpu::test
