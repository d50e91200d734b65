/// The body of a PATCH on an installation (Reference/AzureNotificationHubs.md#5-2): operations that apply in order, all or none.
public struct InstallationPatch: Hashable, Sendable {
    /// The kinds of change.
    public enum Operator: String, Sendable, CaseIterable {
        case add, replace, remove
    }

    /// One change.
    public struct Operation: Hashable, Sendable {
        public var op: Operator
        /// As the client wrote it: segments behind slashes, `~1` for `/` and `~0` for `~` inside them.
        public var path: String
        /// Always a text: lists and objects are JSON inside it. Absent for removals.
        public var value: String?

        /// Creates a change.
        public init(_ op: Operator, _ path: String, _ value: String? = nil) {
            self.op = op
            self.path = path
            self.value = value
        }
    }

    public var operations: [Operation]

    /// Creates a patch.
    public init(_ operations: [Operation]) { self.operations = operations }

    /// Reads a body. A list or an object that stands as itself in `value` is taken as its text.
    public init(parsing body: some Collection<UInt8>, limits: HubLimits = HubLimits()) throws(HubRequestFault) {
        guard body.count <= limits.installationBytes else {
            throw HubRequestFault(.tooLarge, at: "body", "a patch has at most \(limits.installationBytes) bytes")
        }
        guard case .array(let elements) = try WireJSON(parsing: body) else {
            throw HubRequestFault(at: "body", "a JSON array of operations is expected")
        }
        guard elements.count <= limits.patchOperations else {
            throw HubRequestFault(at: "body", "there are more than \(limits.patchOperations) operations")
        }
        var operations: [Operation] = []
        for (index, element) in elements.enumerated() {
            do { operations.append(try Self.operation(element)) } catch {
                throw error.within("operation \(index + 1)", separator: ", ")
            }
        }
        self.init(operations)
    }

    /// The body as this product's client sends it.
    public var json: String {
        WireJSON.array(
            operations.map { operation in
                var members = [
                    WireJSON.Member("op", .string(operation.op.rawValue)), WireJSON.Member("path", .string(operation.path)),
                ]
                if let value = operation.value { members.append(.init("value", .string(value))) }
                return .object(members)
            }
        ).text
    }

    private static func operation(_ json: WireJSON) throws(HubRequestFault) -> Operation {
        guard case .object = json else { throw HubRequestFault(at: "", "an object with op, path and value is expected") }
        guard case .string(let word)? = json["op"], let op = Operator(rawValue: word.lowercased()) else {
            throw HubRequestFault(at: "op", "it is add, replace or remove")
        }
        guard case .string(let path)? = json["path"] else { throw HubRequestFault(at: "path", "a text is expected") }
        let value = json["value"].map { $0.scalarText ?? $0.text }
        guard op == .remove || value != nil else {
            throw HubRequestFault(at: HubRequestFault.shown(path), "\(op.rawValue) needs a value")
        }
        return Operation(op, path, value)
    }
}

extension InstallationPatch {
    /// Whether it says where the installation is reached, be it as before: then the channel is good now.
    public var setsChannel: Bool { operations.contains { $0.op != .remove && PatchPath($0.path) == .pushChannel } }

    /// The installation with every operation applied; the argument stays as it was when one fails. The fault names the operation,
    /// counted from 1, and its path.
    public func applied(
        to installation: InstallationDocument, limits: HubLimits = HubLimits()
    ) throws(HubRequestFault) -> InstallationDocument {
        var result = installation
        for (index, operation) in operations.enumerated() {
            do { try result.apply(operation, limits) } catch {
                let place = "operation \(index + 1), \(HubRequestFault.shown(operation.path))"
                throw HubRequestFault(error.kind, at: error.place.isEmpty ? place : "\(place), \(error.place)", error.reason)
            }
        }
        do { try result.recheck(limits) } catch { throw error.within("after the operations", separator: ", ") }
        return result
    }
}
