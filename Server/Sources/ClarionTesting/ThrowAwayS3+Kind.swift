import Foundation

extension ThrowAwayS3 {
    /// Which store the tests run against: `TEST_STORE` is `moto` (the default), an emulator of Amazon's that starts at
    /// once, or `radosgw`, the gateway of Ceph, which is used in production.
    public enum Kind: String, Sendable, CaseIterable {
        case moto
        case radosgw

        /// What the environment says. Throws `Failure` for a name that is none of these.
        public static func chosen() throws -> Kind {
            guard let name = ProcessInfo.processInfo.environment["TEST_STORE"] else { return .moto }
            guard let kind = Kind(rawValue: name) else {
                let names = allCases.map(\.rawValue).joined(separator: " or ")
                throw Failure(description: "TEST_STORE is '\(name)'; it is \(names)")
            }
            return kind
        }

        /// The program below `Tests/ContentStore` that starts it.
        var program: String { "\(rawValue)_store.py" }
    }
}
