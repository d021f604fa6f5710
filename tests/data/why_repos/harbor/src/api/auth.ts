export class SessionGuard {
  allows(token: string): boolean {
    return token.length > 8;
  }
}
