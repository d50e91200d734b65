@MainActor
@preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("there is no view") }
}

@resultBuilder
public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    @MainActor
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
        var parts: [any View] = []
        repeat parts.append(each content)
        return TupleView(parts: parts)
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    @MainActor
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> {
        _ConditionalContent(chosen: first)
    }
    @MainActor
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> {
        _ConditionalContent(chosen: second)
    }
    @MainActor
    public static func buildLimitedAvailability(_ content: some View) -> AnyView { AnyView(content) }
}

public struct EmptyView: FakeDrawn {
    public nonisolated init() {}
    public var fakeNodes: [FakeNode] { [] }
}

public struct TupleView<Content>: FakeDrawn {
    let parts: [any View]
    public var fakeNodes: [FakeNode] { parts.flatMap { SwiftUI.fakeNodes(of: $0) } }
}

public struct _ConditionalContent<First: View, Second: View>: FakeDrawn {
    let chosen: any View
    public var fakeNodes: [FakeNode] { SwiftUI.fakeNodes(of: chosen) }
}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("a primitive view has no body") }
}

extension Optional: FakeDrawn where Wrapped: View {
    public var fakeNodes: [FakeNode] { map { SwiftUI.fakeNodes(of: $0) } ?? [] }
}

public struct AnyView: FakeDrawn {
    let content: any View
    public init(_ content: some View) { self.content = content }
    public var fakeNodes: [FakeNode] { SwiftUI.fakeNodes(of: content) }
}

@MainActor
@preconcurrency
public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = _ViewModifier_Content
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}

public struct _ViewModifier_Content: FakeDrawn {
    let content: any View
    public var fakeNodes: [FakeNode] { SwiftUI.fakeNodes(of: content) }
}

public struct ModifiedContent: FakeDrawn {
    let nodes: @MainActor () -> [FakeNode]
    public var fakeNodes: [FakeNode] { nodes() }
}

@MainActor
extension View {
    /// Changes the nodes of a view.
    func noting(_ change: @escaping @MainActor (inout FakeNode) -> Void) -> ModifiedContent {
        ModifiedContent {
            var nodes = SwiftUI.fakeNodes(of: self)
            for index in nodes.indices { change(&nodes[index]) }
            return nodes
        }
    }

    public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> some View {
        ModifiedContent { SwiftUI.fakeNodes(of: modifier.body(content: _ViewModifier_Content(content: self))) }
    }
}
