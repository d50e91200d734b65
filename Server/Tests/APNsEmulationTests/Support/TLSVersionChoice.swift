import NIOSSL

/// The TLS versions that a table of tests names.
enum TLSVersionChoice: String, CaseIterable {
    case tls11, tls12, tls13

    var version: TLSVersion {
        switch self {
        case .tls11: .tlsv11
        case .tls12: .tlsv12
        case .tls13: .tlsv13
        }
    }
}
