import Crypto
import SQLStorage
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A database as the owner of contents in a bucket: its mark, and where it lies.
package struct ContentClaimant: Sendable {
    package let store: SQLContentOwnerStore
    /// What no copy of the database has. A file's is its number on the disk and the machine, so one that is restored or carried elsewhere
    /// counts as a copy; a server's is its own number and the database's, which a replica that takes over has too.
    package let place: String
    /// What an operator knows it by.
    let name: String

    /// Finds out where the database of these settings lies, which is open. Throws `ServiceError`.
    package init(_ database: any SQLDatabase, _ settings: Settings) async throws {
        store = SQLContentOwnerStore(database)
        if let place = settings.database {
            self.place = try await store.placeOnServer() ?? database.dialect.name
            name = "\(place.url)"
        } else {
            name = settings.dataDirectory + "/clarion.sqlite"
            place = Self.place(ofFile: name)
        }
    }

    /// Lets the mark go along to a database that got every row of this one.
    package func hand(to new: ContentClaimant) async throws {
        guard let owner = try await store.owner(), owner.place == place else { return }
        try await new.store.replace(by: ContentOwner(mark: owner.mark, place: new.place))
    }

    /// A new mark for where the database lies now.
    func newOwner() -> ContentOwner {
        let parts = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { part in
            let text = String(part, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return ContentOwner(mark: parts.joined(), place: place)
    }

    private static func place(ofFile path: String) -> String {
        var information = stat()
        let number = stat(path, &information) == 0 ? "\(information.st_ino)" : "-"
        return "sqlite \(number) \(machine)"
    }

    /// Tells machines apart without telling their ids (machine-id(5)); empty where there is no id, as in most containers.
    private static let machine: String = {
        guard let id = try? Data(contentsOf: URL(filePath: "/etc/machine-id")), !id.isEmpty else { return "" }
        return SHA256.hash(data: Data("clarion ".utf8) + id).prefix(8).map { String($0, radix: 16) }.joined(separator: ".")
    }()
}
