import Foundation

public enum ContentMode: Sendable { case fit, fill }
public struct TextInputAutocapitalization: Sendable { public static var never: Self { Self() } }
public struct UITextContentType: Sendable { public static let username = Self(), password = Self() }

public struct AccessibilityTraits: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let isImage = Self(rawValue: 1), isHeader = Self(rawValue: 2), isButton = Self(rawValue: 4)
}

public struct AccessibilityChildBehavior: Sendable { public static let combine = Self(), ignore = Self(), contain = Self() }

public struct Font: Sendable {
    public struct Weight: Sendable { public static let semibold = Self(), bold = Self(), regular = Self() }
    public enum TextStyle: Sendable { case largeTitle, title, headline, body, footnote, caption }
    public struct Design: Sendable { public static let monospaced = Self(), `default` = Self() }
    public static let largeTitle = Font(), title = Font(), title2 = Font(), headline = Font(), subheadline = Font()
    public static let body = Font(), footnote = Font(), caption = Font()
    public func weight(_ weight: Weight) -> Font { self }
    public static func system(_ style: TextStyle, design: Design) -> Font { Font() }
}

public protocol ShapeStyle: Sendable {}
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var primary: Self { Self() }
    public static var secondary: Self { Self() }
}
public struct Color: ShapeStyle { public static let accentColor = Color(), red = Color(), clear = Color() }
extension ShapeStyle where Self == Color {
    public static var red: Color { Color() }
    public static var tint: Color { Color() }
}

@MainActor
extension View {
    public func padding(_ length: CGFloat? = nil) -> some View { self }
    public func font(_ font: Font?) -> some View { self }
    public func foregroundStyle(_ style: some ShapeStyle) -> some View { self }
    public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View { self }
    public func frame(
        minWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil, maxHeight: CGFloat? = nil,
        alignment: Alignment = .center
    ) -> some View { self }
    public func clipped() -> some View { self }
    public func aspectRatio(_ ratio: CGFloat? = nil, contentMode: ContentMode) -> some View { self }
    public func disabled(_ isDisabled: Bool) -> some View {
        noting { if isDisabled { $0.attributes["disabled"] = "yes" } }
    }
    public func textContentType(_ type: UITextContentType?) -> some View { self }
    public func textInputAutocapitalization(_ choice: TextInputAutocapitalization?) -> some View { self }
    public func autocorrectionDisabled(_ isDisabled: Bool = true) -> some View { self }
    public func textSelection(_ choice: EnabledTextSelectability) -> some View { self }
    public func tag<Value: Hashable>(_ value: Value) -> some View { self }
    public func id<ID: Hashable>(_ id: ID) -> some View { self }
    public func navigationTitle(_ title: Text) -> some View { noting { $0.attributes["title"] = title.text } }
    public func navigationTitle(_ key: LocalizedStringKey) -> some View { noting { $0.attributes["title"] = key.text } }
    public func tabItem<Item: View>(@ViewBuilder _ item: () -> Item) -> some View {
        let item = item()
        return noting { $0.children += SwiftUI.fakeNodes(of: item) }
    }

    public func accessibilityLabel(_ label: Text) -> some View { noting { $0.attributes["label"] = label.text } }
    public func accessibilityLabel(_ key: LocalizedStringKey) -> some View { noting { $0.attributes["label"] = key.text } }
    public func accessibilityIdentifier(_ identifier: String) -> some View { noting { $0.attributes["id"] = identifier } }
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }
    public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { self }
    public func accessibilityHidden(_ isHidden: Bool) -> some View {
        noting { if isHidden { $0.attributes["hidden"] = "yes" } }
    }
}

public struct EnabledTextSelectability: Sendable { public static var enabled: Self { Self() } }
