export function compiled(): Promise<Buffer>;
