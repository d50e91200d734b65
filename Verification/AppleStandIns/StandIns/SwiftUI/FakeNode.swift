// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code. It draws nothing: it turns views into
// nodes, so that a test can see which words, labels and buttons are there.
@_exported import UIKit

/// What a view would put on the screen.
@MainActor
public struct FakeNode {
    public var name: String
    public var text: String?
    public var attributes: [String: String] = [:]
    public var children: [FakeNode] = []
    /// What a tap does.
    public var action: (() -> Void)?
    /// What runs when it appears, and when the user pulls it down.
    public var tasks: [String: () async -> Void] = [:]

    public init(_ name: String, text: String? = nil, children: [FakeNode] = []) {
        self.name = name
        self.text = text
        self.children = children
    }

    /// The node and everything in it.
    public var all: [FakeNode] { [self] + children.flatMap(\.all) }

    /// Every word on the screen.
    public var texts: [String] { all.compactMap(\.text) }

    /// The first node with this attribute.
    public func first(_ attribute: String, _ value: String) -> FakeNode? { all.first { $0.attributes[attribute] == value } }
}

/// What knows its own node.
public protocol FakeDrawn: View where Body == Never {
    var fakeNodes: [FakeNode] { get }
}

extension FakeDrawn {
    public var body: Never { fatalError("a primitive view has no body") }
}

/// The nodes of any view.
@MainActor
public func fakeNodes(of view: any View) -> [FakeNode] {
    if let drawn = view as? any FakeDrawn { return drawn.fakeNodes }
    return fakeNodes(of: view.body)
}

/// The whole of a view as one node.
@MainActor
public func fakeScreen(_ view: any View) -> FakeNode { FakeNode("screen", children: fakeNodes(of: view)) }
