package android.graphics;

/** Every picture has 4,000 by 3,000 pixels. */
public class BitmapFactory {
    public static class Options {
        public boolean inJustDecodeBounds;
        public int inSampleSize, outWidth, outHeight;
    }

    public static Bitmap decodeFile(String path, Options options) {
        options.outWidth = 4000;
        options.outHeight = 3000;
        return options.inJustDecodeBounds ? null : new Bitmap(path, options.inSampleSize);
    }
}
