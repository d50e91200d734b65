@_exported import Combine
import Foundation

@propertyWrapper
public struct State<Value> {
    /// `@unchecked` is safe: views live on the main actor.
    final class Box: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    let box: Box
    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    public init(initialValue: Value) { box = Box(initialValue) }
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> {
        let box = box
        return Binding(get: { box.value }, set: { box.value = $0 })
    }
}

extension State: Sendable where Value: Sendable {}

@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value> {
    let read: @MainActor () -> Value
    let write: @MainActor (Value) -> Void

    @preconcurrency
    public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
        read = get
        write = set
    }

    @MainActor public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
    public subscript<Part>(dynamicMember path: WritableKeyPath<Value, Part>) -> Binding<Part> {
        // `nonisolated(unsafe)` is safe: both are only used on the main actor.
        nonisolated(unsafe) let (binding, path) = (self, path)
        return Binding<Part>(
            get: { binding.read()[keyPath: path] },
            set: { part in
                var whole = binding.read()
                whole[keyPath: path] = part
                binding.write(whole)
            })
    }
}

@MainActor
@propertyWrapper
public struct ObservedObject<Object: ObservableObject> {
    @dynamicMemberLookup
    @MainActor
    public struct Wrapper {
        let object: Object
        public subscript<Part>(dynamicMember path: ReferenceWritableKeyPath<Object, Part>) -> Binding<Part> {
            let object = object
            return Binding(get: { object[keyPath: path] }, set: { object[keyPath: path] = $0 })
        }
    }

    public var wrappedValue: Object
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
    public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }
}

@MainActor
@propertyWrapper
public struct StateObject<Object: ObservableObject> {
    final class Box {
        let make: () -> Object
        var made: Object?
        init(_ make: @escaping () -> Object) { self.make = make }
    }

    private let box: Box
    public init(wrappedValue thunk: @autoclosure @escaping () -> Object) { box = Box(thunk) }
    public var wrappedValue: Object {
        if let made = box.made { return made }
        let made = box.make()
        box.made = made
        return made
    }
    public var projectedValue: ObservedObject<Object>.Wrapper { .init(object: wrappedValue) }
}

public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

public struct OpenURLAction {
    @MainActor public func callAsFunction(_ url: URL) { EnvironmentValues.fakeOpened.append(url) }
}

public struct EnvironmentValues {
    /// What a test set or asks for.
    @MainActor public static var fakeOpened: [URL] = []

    public var scenePhase: ScenePhase { .active }
    public var openURL: OpenURLAction { OpenURLAction() }
    public var accessibilityReduceMotion: Bool { false }
}

@MainActor
@propertyWrapper
public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>
    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }
    public var wrappedValue: Value { EnvironmentValues()[keyPath: path] }
}
