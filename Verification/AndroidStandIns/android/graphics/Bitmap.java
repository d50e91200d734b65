package android.graphics;

public final class Bitmap {
    public final String path;
    public final int sampleSize;

    Bitmap(String path, int sampleSize) {
        this.path = path;
        this.sampleSize = sampleSize;
    }
}
