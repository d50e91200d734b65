import Foundation

/// What stands behind the functions: generic passwords by group, service and account.
///
/// `@unchecked` is safe: what changes is only touched inside the lock.
public final class FakeKeychain: @unchecked Sendable {
    public static let shared = FakeKeychain()

    /// An item; `accessible` is the protection that it was stored with.
    public struct Item: Sendable {
        public var data: Data
        public var accessible: String
    }

    private let lock = NSLock()
    private var items: [String: Item] = [:]
    private var groups: Set<String> = []
    private var isLocked = false
    /// The group of a call that names none: the process's own.
    private var ownGroup = "app"

    public func reset(groups: Set<String>) {
        lock.withLock {
            items = [:]
            self.groups = groups
            isLocked = false
            ownGroup = "app"
        }
    }

    /// Before the first unlock nothing is readable.
    public func setLocked(_ locked: Bool) { lock.withLock { isLocked = locked } }

    /// Which process calls from now on: the extension has a group of its own.
    public func setOwnGroup(_ group: String) { lock.withLock { ownGroup = group } }

    /// Everything, by `group service account`.
    public var all: [String: Item] { lock.withLock { items } }

    private func run(_ query: NSDictionary, _ work: (String) -> OSStatus) -> OSStatus {
        lock.withLock {
            guard let service = query[kSecAttrService] as? String, let account = query[kSecAttrAccount] as? String,
                query[kSecClass] as? String == "genp"
            else { return errSecParam }
            let group = query[kSecAttrAccessGroup] as? String
            if let group, !groups.contains(group) { return errSecMissingEntitlement }
            if isLocked { return errSecInteractionNotAllowed }
            return work([group ?? ownGroup, service, account].joined(separator: " "))
        }
    }

    func add(_ attributes: NSDictionary) -> OSStatus {
        run(attributes) { key in
            guard items[key] == nil else { return errSecDuplicateItem }
            guard let data = attributes[kSecValueData] as? NSData else { return errSecParam }
            items[key] = Item(
                data: Data(referencing: data), accessible: attributes[kSecAttrAccessible] as? String ?? "when unlocked")
            return errSecSuccess
        }
    }

    func update(_ query: NSDictionary, _ attributes: NSDictionary) -> OSStatus {
        run(query) { key in
            guard items[key] != nil else { return errSecItemNotFound }
            guard let data = attributes[kSecValueData] as? NSData else { return errSecParam }
            items[key] = Item(
                data: Data(referencing: data), accessible: attributes[kSecAttrAccessible] as? String ?? "when unlocked")
            return errSecSuccess
        }
    }

    func copy(_ query: NSDictionary, _ result: UnsafeMutablePointer<AnyObject?>?) -> OSStatus {
        run(query) { key in
            guard let item = items[key] else { return errSecItemNotFound }
            result?.pointee = NSData(data: item.data)
            return errSecSuccess
        }
    }

    func delete(_ query: NSDictionary) -> OSStatus {
        run(query) { key in items.removeValue(forKey: key) == nil ? errSecItemNotFound : errSecSuccess }
    }
}
