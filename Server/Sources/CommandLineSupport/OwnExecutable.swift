#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#endif

/// The file of the program that runs.
package enum OwnExecutable {
    /// Its path, symbolic links resolved. Where the system does not say, it is what the program was called as.
    package static var path: String {
        #if canImport(Darwin)
            var length = UInt32(0)
            _NSGetExecutablePath(nil, &length)
            var buffer = [CChar](repeating: 0, count: Int(length))
            guard _NSGetExecutablePath(&buffer, &length) == 0 else { return CommandLine.arguments[0] }
            let called = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return URL(filePath: called).resolvingSymlinksInPath().path
        #else
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        #endif
    }
}
