import Foundation

public struct HorizontalAlignment: Sendable { public static let leading = Self(), center = Self(), trailing = Self() }
public struct VerticalAlignment: Sendable { public static let top = Self(), center = Self(), firstTextBaseline = Self() }
public struct Alignment: Sendable { public static let leading = Self(), center = Self() }

public struct VStack<Content: View>: FakeDrawn {
    let content: Content
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {
        self.content = content()
    }
    public var fakeNodes: [FakeNode] { [FakeNode("column", children: SwiftUI.fakeNodes(of: content))] }
}

public struct HStack<Content: View>: FakeDrawn {
    let content: Content
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {
        self.content = content()
    }
    public var fakeNodes: [FakeNode] { [FakeNode("row", children: SwiftUI.fakeNodes(of: content))] }
}

public struct Form<Content: View>: FakeDrawn {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var fakeNodes: [FakeNode] { [FakeNode("form", children: SwiftUI.fakeNodes(of: content))] }
}

public struct ScrollView<Content: View>: FakeDrawn {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var fakeNodes: [FakeNode] { [FakeNode("scroll", children: SwiftUI.fakeNodes(of: content))] }
}

public struct Section<Content: View>: FakeDrawn {
    let title: String?
    let content: Content
    public init(@ViewBuilder content: () -> Content) { (title, self.content) = (nil, content()) }
    public init(_ key: LocalizedStringKey, @ViewBuilder content: () -> Content) {
        (title, self.content) = (key.text, content())
    }
    public var fakeNodes: [FakeNode] { [FakeNode("section", text: title, children: SwiftUI.fakeNodes(of: content))] }
}

public struct List<Content: View>: FakeDrawn {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    ) where Data.Element: Identifiable, Content == ForEach<Data, Data.Element.ID, Row> {
        content = ForEach(data, content: rowContent)
    }
    public var fakeNodes: [FakeNode] { [FakeNode("list", children: SwiftUI.fakeNodes(of: content))] }
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: FakeDrawn {
    let data: Data
    let content: (Data.Element) -> Content
    public var fakeNodes: [FakeNode] { data.flatMap { SwiftUI.fakeNodes(of: content($0)) } }
}

extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        (self.data, self.content) = (data, content)
    }
}

extension ForEach {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        (self.data, self.content) = (data, content)
    }
}

public struct NavigationStack<Root: View>: FakeDrawn {
    let root: Root
    public init(@ViewBuilder root: () -> Root) { self.root = root() }
    public init<Path: MutableCollection & RandomAccessCollection & RangeReplaceableCollection>(
        path: Binding<Path>, @ViewBuilder root: () -> Root
    ) where Path.Element: Hashable { self.root = root() }
    public var fakeNodes: [FakeNode] { [FakeNode("navigation", children: SwiftUI.fakeNodes(of: root))] }
}

public struct TabView<Content: View>: FakeDrawn {
    let content: Content
    public init<Choice: Hashable>(selection: Binding<Choice>?, @ViewBuilder content: () -> Content) { self.content = content() }
    public var fakeNodes: [FakeNode] { [FakeNode("tabs", children: SwiftUI.fakeNodes(of: content))] }
}
