import Foundation

@MainActor
extension View {
    public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { noting { $0.tasks["task"] = action } }

    public func task<Value: Equatable>(
        id value: Value, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { noting { $0.tasks["task"] = action } }

    public func refreshable(@_inheritActorContext action: @escaping @Sendable () async -> Void) -> some View {
        noting { $0.tasks["refresh"] = action }
    }

    public func onAppear(perform action: (() -> Void)? = nil) -> some View {
        noting { $0.tasks["appear"] = { action?() } }
    }

    public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
        noting { $0.tasks["disappear"] = { action?() } }
    }

    public func onReceive<Value>(_ values: Value, perform action: @escaping (Value) -> Void) -> some View { self }

    public func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View {
        noting { node in
            guard let item = item.wrappedValue else { return }
            node.children.append(FakeNode("sheet", children: SwiftUI.fakeNodes(of: content(item))))
        }
    }

    public func navigationDestination<Value: Hashable, Content: View>(
        for type: Value.Type, @ViewBuilder destination: @escaping (Value) -> Content
    ) -> some View { self }

    public func alert<Actions: View, Message: View, Value>(
        _ title: Text, isPresented: Binding<Bool>, presenting value: Value?, @ViewBuilder actions: @escaping (Value) -> Actions,
        @ViewBuilder message: @escaping (Value) -> Message
    ) -> some View {
        noting { node in
            guard isPresented.wrappedValue, let value else { return }
            let children = SwiftUI.fakeNodes(of: message(value)) + SwiftUI.fakeNodes(of: actions(value))
            node.children.append(FakeNode("alert", text: title.text, children: children))
        }
    }

    public func confirmationDialog<Actions: View, Message: View>(
        _ title: Text, isPresented: Binding<Bool>, @ViewBuilder actions: @escaping () -> Actions,
        @ViewBuilder message: @escaping () -> Message
    ) -> some View {
        noting { node in
            guard isPresented.wrappedValue else { return }
            let children = SwiftUI.fakeNodes(of: message()) + SwiftUI.fakeNodes(of: actions())
            node.children.append(FakeNode("dialog", text: title.text, children: children))
        }
    }

    public func swipeActions<Actions: View>(@ViewBuilder content: () -> Actions) -> some View {
        let actions = content()
        return noting { $0.children += SwiftUI.fakeNodes(of: actions) }
    }
}

// Newer than the oldest iOS that the SDK supports: the compiler of Linux lets them pass, and Verification/ledger must not.
public struct ContentUnavailableView: FakeDrawn {
    let title: String
    @_disfavoredOverload
    public init<Title: StringProtocol>(_ title: Title, systemImage: String) { self.title = String(title) }
    public var fakeNodes: [FakeNode] { [FakeNode("unavailable", text: title)] }
}

@MainActor
extension View {
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (Value, Value) -> Void
    ) -> some View { self }
}
