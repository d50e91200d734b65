/// The name of a file in a container: 1 to 200 letters, digits and `. _ - ~ + = @ ( ) ,`, in parts with slashes between them. No part
/// is empty, `.` or `..`.
public struct BlobName: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let text: String

    /// Creates a name; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...200).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        self.text = text
    }

    public var description: String { text }

    public static func < (left: BlobName, right: BlobName) -> Bool { left.text < right.text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "="),
            UInt8(ascii: "@"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

/// One file: of a hub, in a container, under a name.
public struct BlobReference: Hashable, Sendable {
    public var hub: HubID
    public var container: ContainerName
    public var name: BlobName

    /// Creates a reference.
    public init(hub: HubID, container: ContainerName, name: BlobName) {
        self.hub = hub
        self.container = container
        self.name = name
    }
}
