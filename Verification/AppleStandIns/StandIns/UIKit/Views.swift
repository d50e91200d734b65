import Foundation
import ImageIO

public final class UIImage: NSObject, @unchecked Sendable {
    public let size: CGSize

    public init(cgImage: CGImage) { size = CGSize(width: cgImage.width, height: cgImage.height) }
}

public struct UIAccessibilityTraits: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let image = Self(rawValue: 4)
}

open class UIFont: NSObject {
    public struct TextStyle: Hashable, Sendable { public static let body = Self() }
    open class func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}

public struct NSLayoutXAxisAnchor: Sendable {
    @MainActor public func constraint(equalTo anchor: NSLayoutXAxisAnchor) -> NSLayoutConstraint { NSLayoutConstraint() }
}

public struct NSLayoutYAxisAnchor: Sendable {
    @MainActor public func constraint(equalTo anchor: NSLayoutYAxisAnchor, constant: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
}

public struct NSLayoutDimension: Sendable {
    @MainActor public func constraint(equalTo anchor: NSLayoutDimension, multiplier: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
}

@MainActor
open class NSLayoutConstraint: NSObject {
    open var isActive = false
    open class func activate(_ constraints: [NSLayoutConstraint]) { for constraint in constraints { constraint.isActive = true } }
    public nonisolated override init() { super.init() }
}

@MainActor
open class UILayoutGuide: NSObject {
    public let leadingAnchor = NSLayoutXAxisAnchor(), trailingAnchor = NSLayoutXAxisAnchor()
    public nonisolated override init() { super.init() }
}

@MainActor
open class UIView: UIResponder {
    public enum ContentMode: Int, Sendable { case scaleToFill, scaleAspectFit }

    open var contentMode = ContentMode.scaleToFill
    open var isHidden = false
    open var isAccessibilityElement = false
    open var accessibilityLabel: String?
    open var accessibilityIdentifier: String?
    open var accessibilityTraits: UIAccessibilityTraits = []
    open var translatesAutoresizingMaskIntoConstraints = true
    open private(set) var subviews: [UIView] = []
    public let leadingAnchor = NSLayoutXAxisAnchor(), trailingAnchor = NSLayoutXAxisAnchor()
    public let topAnchor = NSLayoutYAxisAnchor(), bottomAnchor = NSLayoutYAxisAnchor()
    public let widthAnchor = NSLayoutDimension(), heightAnchor = NSLayoutDimension()
    open private(set) lazy var layoutMarginsGuide = UILayoutGuide()
    open func addSubview(_ view: UIView) { subviews.append(view) }
}

@MainActor
open class UIImageView: UIView {
    open var image: UIImage?
}

@MainActor
open class UILabel: UIView {
    open var text: String?
    open var font: UIFont?
    open var numberOfLines = 1
    open var adjustsFontForContentSizeCategory = false
}

public enum NSLayoutAxis: Int, Sendable { case horizontal, vertical }

@MainActor
open class UIStackView: UIView {
    open var axis = NSLayoutAxis.horizontal
    open var spacing: CGFloat = 0
    open private(set) var arrangedSubviews: [UIView] = []
    open func addArrangedSubview(_ view: UIView) { arrangedSubviews.append(view) }
}

@MainActor
open class UIViewController: UIResponder {
    public nonisolated override init() { super.init() }
    open private(set) lazy var view: UIView! = UIView()
    open func viewDidLoad() {}
    open func loadViewIfNeeded() {
        _ = view
        viewDidLoad()
    }
}
