/// The version that the program, its answers and its logs name.
public enum ClarionVersion {
    /// Major, minor, patch, as Semantic Versioning has it.
    public static let current = "0.1.0"
}
