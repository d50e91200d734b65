// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.

public protocol ObservableObject: AnyObject {}

@propertyWrapper
public struct Published<Value> {
    /// How often it was set, also to what it was.
    public private(set) var fakeChanges = 0

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public var wrappedValue: Value { didSet { fakeChanges += 1 } }
    public var projectedValue: Published<Value> { self }
}
