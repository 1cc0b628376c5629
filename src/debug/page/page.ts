/** A placeholder. */
export const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>pod status manager</title></head>
<body><p>The page is not built. The same as text: curl this address.</p></body>
</html>
`;
