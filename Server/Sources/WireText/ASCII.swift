/// The classes of ASCII characters from which names and tokens are made.
extension UInt8 {
    /// `0` to `9`.
    public var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// A digit, or `a` to `f` in either case.
    public var isASCIIHexadecimalDigit: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }

    /// `a` to `z`.
    public var isASCIILowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// A digit, or a letter in either case.
    public var isASCIILetterOrDigit: Bool {
        isASCIIDigit || isASCIILowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }
}
