import Foundation

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Equatable, Sendable {
    let text: String
    public init(stringLiteral value: String) { text = value }
    public init(_ value: String) { text = value }
}

public struct Text: FakeDrawn, Equatable {
    public struct DateStyle: Sendable { public static let date = Self(), relative = Self() }

    let text: String
    public nonisolated init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil
    ) { text = key.text }
    @_disfavoredOverload
    public nonisolated init<Content: StringProtocol>(_ content: Content) { text = String(content) }
    public nonisolated init(verbatim content: String) { text = content }
    public nonisolated init(_ date: Date, style: DateStyle) { text = "\(date)" }
    public var fakeNodes: [FakeNode] { [FakeNode("text", text: text)] }
}

public struct Image: FakeDrawn {
    let name: String
    public nonisolated init(systemName: String) { name = systemName }
    public nonisolated init(uiImage: UIImage) { name = "picture" }
    public nonisolated func resizable() -> Image { self }
    public var fakeNodes: [FakeNode] {
        var node = FakeNode("image")
        node.attributes["image"] = name
        return [node]
    }
}

public struct ButtonRole: Equatable, Sendable {
    let name: String
    public static let cancel = ButtonRole(name: "cancel"), destructive = ButtonRole(name: "destructive")
}

public struct Button<Label: View>: FakeDrawn {
    let role: ButtonRole?
    let action: @MainActor () -> Void
    let label: Label

    @preconcurrency
    public init(role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        (self.role, self.action, self.label) = (role, action, label())
    }
    @preconcurrency
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        self.init(role: nil, action: action, label: label)
    }
    public var fakeNodes: [FakeNode] {
        var node = FakeNode("button", children: SwiftUI.fakeNodes(of: label))
        node.attributes["role"] = role?.name
        node.action = action
        return [node]
    }
}

extension Button where Label == Text {
    @preconcurrency
    public init(_ key: LocalizedStringKey, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {
        self.init(role: role, action: action) { Text(key) }
    }
    @preconcurrency
    @_disfavoredOverload
    public init<Title: StringProtocol>(_ title: Title, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {
        self.init(role: role, action: action) { Text(title) }
    }
}

public struct Label<Title: View, Icon: View>: FakeDrawn {
    let title: Title
    let icon: Icon
    public init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) { (self.title, self.icon) = (title(), icon()) }
    public var fakeNodes: [FakeNode] { SwiftUI.fakeNodes(of: title) + SwiftUI.fakeNodes(of: icon) }
}

extension Label where Title == Text, Icon == Image {
    public init(_ key: LocalizedStringKey, systemImage: String) {
        self.init(title: { Text(key) }, icon: { Image(systemName: systemImage) })
    }
    @_disfavoredOverload
    public init<Words: StringProtocol>(_ words: Words, systemImage: String) {
        self.init(title: { Text(words) }, icon: { Image(systemName: systemImage) })
    }
}

public struct ProgressView: FakeDrawn {
    let text: String?
    public init() { text = nil }
    @_disfavoredOverload
    public init<Title: StringProtocol>(_ title: Title) { text = String(title) }
    public init(_ key: LocalizedStringKey) { text = key.text }
    public var fakeNodes: [FakeNode] { [FakeNode("progress", text: text)] }
}

public struct TextField: FakeDrawn {
    let title: String
    public init(_ key: LocalizedStringKey, text: Binding<String>) { title = key.text }
    public var fakeNodes: [FakeNode] { [FakeNode("field", text: title)] }
}

public struct SecureField: FakeDrawn {
    let title: String
    public init(_ key: LocalizedStringKey, text: Binding<String>) { title = key.text }
    public var fakeNodes: [FakeNode] { [FakeNode("field", text: title)] }
}

public struct Toggle: FakeDrawn {
    let title: String
    public init(_ key: LocalizedStringKey, isOn: Binding<Bool>) { title = key.text }
    public var fakeNodes: [FakeNode] { [FakeNode("toggle", text: title)] }
}

public struct Picker<Choice: Hashable, Content: View>: FakeDrawn {
    let title: String
    let content: Content
    public init(_ key: LocalizedStringKey, selection: Binding<Choice>, @ViewBuilder content: () -> Content) {
        (title, self.content) = (key.text, content())
    }
    public var fakeNodes: [FakeNode] { [FakeNode("picker", text: title, children: SwiftUI.fakeNodes(of: content))] }
}

public struct Spacer: FakeDrawn {
    public nonisolated init() {}
    public var fakeNodes: [FakeNode] { [] }
}

public struct ShareLink<Label: View>: FakeDrawn {
    let item: URL
    let label: Label
    public init(item: URL, @ViewBuilder label: () -> Label) { (self.item, self.label) = (item, label()) }
    public var fakeNodes: [FakeNode] {
        var node = FakeNode("share", children: SwiftUI.fakeNodes(of: label))
        node.attributes["item"] = item.path
        return [node]
    }
}
