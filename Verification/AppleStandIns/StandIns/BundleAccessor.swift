// What the package manager writes for a target with resources, for scripts/check-apple, which calls the compiler directly.
import Foundation

extension Bundle {
    static var module: Bundle { .main }
}
